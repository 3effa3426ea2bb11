#pragma once
typedef int cusolverStatus_t;
#define CUSOLVER_STATUS_SUCCESS 0
#define CUSOLVER_STATUS_EXECUTION_FAILED 6
