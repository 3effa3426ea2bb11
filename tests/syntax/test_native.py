"""What is read of C++, CUDA and CMake; what must not count comes first."""

from pathlib import Path

import pytest

from shrinker.syntax.cmake import read_cmake
from shrinker.syntax.native.reader import read_native
from shrinker.syntax.native.tokens import Lines, NativeSource
from tests.small import read_archive

REGISTERED, LIST = read_archive(Path(__file__).with_name("native.txtar")).values()


def read(text: str) -> NativeSource:
    return read_native(text.encode())


NOT_DEFINED = {
    "a declaration": "void f(int);",
    "a call": "void g() { f(1); }",
    "a call in a condition": "void g() { if (f(1)) { } }",
    "a comment": "// void f(int) {}",
    "a text": 'const char* t = "void f() {}";',
    "a variable": "Guard f(of(x));",
}


DEFINED = {
    "a function": "int f(int a) { return a; }",
    "a kernel": "__global__ void __launch_bounds__(128) f(float* x) { }",
    "a template": "template <typename T> T f(T a) { return a; }",
    "a specialisation": "template <> int f<3>(int a) { return a; }",
    "a trailing type": "auto f(int a) -> decltype(a) { return a; }",
    "a method": "int Shape::f(int a) const { return a; }",
    "in a namespace": "namespace n { namespace { static int f() { return 1; } } }",
    "after what the grammar does not know": "UNKNOWN(a, b) c d\nint f(int a) { return a; }",
}


@pytest.mark.parametrize("name", [*NOT_DEFINED, *DEFINED])
def test_what_a_text_defines(name: str) -> None:
    assert ("f" in read((NOT_DEFINED | DEFINED)[name]).defined) is (name in DEFINED)


def test_what_is_only_declared_is_no_mention() -> None:
    source = read(
        "at::Tensor f(const Shape& s);\ntemplate <typename T> void h(T x);\nvoid g() { k(1); }\n"
    )
    assert source.promised == {"f", "h"}
    assert not source.words & {"f", "h"}
    assert source.words >= {"k", "Shape", "g"}


def test_variables_of_other_sources_are_declared() -> None:
    source = read("extern int count;\n__global__ void k() { extern __shared__ char memory[]; }\n")
    assert "count" in source.promised
    assert "memory" not in source.promised


def test_methods_are_named_with_their_class() -> None:
    source = read(
        "struct Shape { int area(int a); int side() { return 1; } };\nint Other::area(int a) { "
        "return a; }\n"
    )
    assert source.members == {"Shape::area"}
    assert source.methods == {"Other::area"}


def test_registrations() -> None:
    found = {r.name: r for r in read(REGISTERED).registrations if r.functions}
    assert found["first"].functions[-1] == "first_impl"
    assert [r.lines for r in read(REGISTERED).registrations if r.name == "first"] == [
        Lines(4, 6),
        Lines(7, 7),
    ]
    # Two on a line cannot go on their own.
    assert found["second"].lines == found["third"].lines == Lines(0, 0)
    assert "fourth" in found["fourth"].functions
    assert found["fourth"].lines == Lines(9, 9)
    # Of a computed name nothing is known: what it offers stays.
    assert "fifth" not in found
    assert "fifth" in read(REGISTERED).words
    assert read(REGISTERED).acts


def test_registrations_of_other_libraries() -> None:
    assert (
        read('PYBIND11_MODULE(name, m) { m.def("f", &f, "says"); }\n').registrations[0].name == "f"
    )
    found = read("void run() {}\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(run_it, run);\n").registrations
    assert [(each.name, each.functions) for each in found] == [("run_it", ("run",))]
    assert read('void f() { m.def("f", &f); }\n').registrations == ()


def test_names_that_macros_put_together() -> None:
    source = read("#define CALL(n) run_##n(1)\n#define TWO(a, b) a##b\n")
    assert source.pasted == {("run_", ""), ("", "")}


def test_operators_that_native_code_calls() -> None:
    assert "sort" in read('auto f = find("ops::sort", "");\n').spoken


NO_DEFINITION = {
    "linkage of C": 'extern "C" int f(int a) { return a; }\n',
    "a block of that linkage": 'extern "C" {\nint f(int a) { return a; }\n}\n',
    "a member": "struct Shape {\n  int f(int a) { return a; }\n};\n",
    "a method outside of its class": "int Shape::f(int a) { return a; }\n",
    "a constructor": "f::f(int a) : a(a) {}\n",
    "a specialisation": "template <>\nint f<3>(int a) { return a; }\n",
    "one by its parameters": "template <>\nint f(int a) { return a; }\n",
    "an instantiation": "template int f<3>(int a);\n",
    "an operator": "int operator+(Shape a, Shape b) { return 1; }\n",
    "an attribute": "[[gnu::constructor]] void f() {}\n",
    "one in the older way": "__attribute__((constructor)) void f() {}\n",
    "a declaration with one": "__attribute__((constructor)) void f();\n",
    "a macro that exports": "EXPORT int f(int a) { return a; }\n",
    "a block of a macro": "TORCH_LIBRARY(f, m) {}\n",
    "a line with something else": "int f(int a) { return a; } int g() { return 1; }\n",
    "a macro in its body": "int f(int a) {\n#define TWO 2\n  return a;\n}\n",
    "a pragma in its body": "int f(int a) {\n#pragma nv_diag_suppress 1\n  return a;\n}\n",
    "beside what is not understood": "class EXPORT f( : {\nint f(int a) { return a; }\n",
    "a variable": "static int f = g();\n",
    "a class": "struct f {\n  int a;\n};\n",
    "a template of which a part is special": "template <typename T>\nstruct f<T*> {\n  T a;\n};\n",
    "the start": "int main() { return 1; }\n",
    "what templates of others call": "void swap(Shape& a, Shape& b) { a.swap(b); }\n",
}


@pytest.mark.parametrize("text", NO_DEFINITION.values(), ids=NO_DEFINITION)
def test_no_definition_that_may_go(text: str) -> None:
    source = read(text)
    assert {each.name for each in source.definitions} <= {"g"}
    assert source.outside & {"f", "main", "operator", "swap"}


DEFINITIONS = {
    "a function": "int f(int a) {\n  return g(a);\n}\n",
    "a declaration": "\nint* f(const Shape& s,\n  int b = g());\n",
    "a kernel": "__global__ void __launch_bounds__(128)\nf(float* x) { g(x); }  // said so\n",
    "a template in a namespace": (
        "namespace {\ntemplate <typename T>\nstatic inline auto f(T a) -> T { return g(a); }\n}\n"
    ),
    "in a branch": "#ifdef ONE\nint f() { return g(); }\n#endif\n",
    "a constant": "static constexpr int f = g(1);\n",
    "a template of a class": "template <typename T>\nstruct f : g<T> {\n  int size();\n};\n",
    "a directive of its own": "int f() {\n#if ONE\n#pragma unroll\n  for (;;) g();\n#endif\n}\n",
}


@pytest.mark.parametrize("text", DEFINITIONS.values(), ids=DEFINITIONS)
def test_definitions_that_may_go(text: str) -> None:
    source = read(text)
    (found,) = source.definitions
    assert found.name == "f" and found.words >= {"f", "g"} and not source.outside & {"f", "g"}
    assert found.lines.first >= 1


def test_comments_directly_above_go_along() -> None:
    text = (
        "// Of all.\nint a() { return 1; }\n\n// Apart.\n\n// Of b,\n/* and more. */\nint b() { "
        "return 1; }\n"
    )
    text += "// clang-format off\nint c() { return 1; }\n"
    assert [each.lines for each in read(text).definitions] == [
        Lines(2, 2),
        Lines(6, 8),
        Lines(10, 10),
    ]


def test_texts_count_and_comments_do_not() -> None:
    source = read(
        'const char* t = "say::one";\nvoid* u = [] { asm volatile("two;" "two"); /* three */ }();\n'
    )
    assert source.outside >= {"one", "two"} and "three" not in source.outside


def test_commands_and_their_arguments() -> None:
    found = read_cmake(LIST)
    assert [(c.name, c.line) for c in found] == [
        ("set", 4),
        ("if", 10),
        ("add_library", 11),
        ("endif", 12),
        ("message", 13),
    ]
    sources = found[0].arguments
    assert [a.text for a in sources] == [
        "SOURCES",
        "csrc/a.cu",
        "csrc/b.cu",
        "csrc/d e.cu",
        "${folder}/x.cu",
    ]
    assert [a.text for a in sources if a.alone] == ["csrc/a.cu", "${folder}/x.cu"]
    assert [a.text for a in found[1].arguments] == ["A", "AND", "B", "OR", "C"]
    assert found[4].arguments[0].text == ' not ( "read" '


def test_what_cannot_be_read_ends_the_list() -> None:
    assert [c.name for c in read_cmake("a(1)\nb(\n")] == ["a"]
    assert read_cmake("") == ()
