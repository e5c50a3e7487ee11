/* Tenants: snapshots of all of them, for which C passes NULL. */
%apply const char* NAME { const char* prices, const char* since }
%apply char** OWNED { char** text }
%inline %{
static rc_status all_tenant_metrics(int32_t format, char** text) {
  return rc_tenant_metrics(NULL, format, text);
}
%}
