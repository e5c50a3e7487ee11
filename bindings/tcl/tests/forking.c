/* forking SCRIPT: runs a script in the child of a fork, which then ends;
 * returns its exit status, or the negated number of the signal. */
#include <stdio.h>
#include <sys/wait.h>
#include <tcl.h>
#include <unistd.h>

static int run(ClientData data, Tcl_Interp* interp, int objc,
               Tcl_Obj* const objv[]) {
  int status = 0;
  pid_t child;
  (void)data;
  if (objc != 2) {
    Tcl_WrongNumArgs(interp, 1, objv, "script");
    return TCL_ERROR;
  }
  fflush(NULL);
  child = fork();
  if (child < 0) return TCL_ERROR;
  if (child == 0) {
    const int code = Tcl_EvalObjEx(interp, objv[1], TCL_EVAL_GLOBAL);
    if (code != TCL_OK) fprintf(stderr, "%s\n", Tcl_GetStringResult(interp));
    _exit(code);
  }
  waitpid(child, &status, 0);
  Tcl_SetObjResult(interp,
                   Tcl_NewIntObj(WIFEXITED(status) ? WEXITSTATUS(status)
                                                   : -WTERMSIG(status)));
  return TCL_OK;
}

int Forking_Init(Tcl_Interp* interp) {
  if (Tcl_InitStubs(interp, "8.6", 0) == NULL) return TCL_ERROR;
  Tcl_CreateObjCommand(interp, "forking", run, NULL, NULL);
  return TCL_OK;
}
