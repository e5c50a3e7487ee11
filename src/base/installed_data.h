/* The folder of the models that come with Runcible, in the prefix that the
 * library was configured or installed for. In C, to be compiled once more when
 * the library is installed.
 */
#ifndef RUNCIBLE_BASE_INSTALLED_DATA_H
#define RUNCIBLE_BASE_INSTALLED_DATA_H

#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const char rc_installed_data[];

#endif /* RUNCIBLE_BASE_INSTALLED_DATA_H */
