/** What `smalt --help` says. */
export const HELP = `Smalt stores JSON documents by entity, with versioned schemas and access by role.

  smalt                          start on http://127.0.0.1:8080, data in ./data
  smalt --port 9000 --data /srv  start elsewhere
  smalt config                   print the configuration in effect

Commands
  serve                start the service (what happens without a command)
  config               print the effective configuration as JSON
  help                 print this text
  version              print the version

Options
  --port N             port to listen on, 0 picks a free one (8080; SMALT_PORT)
  --host H             address to listen on (127.0.0.1; SMALT_HOST)
  --data DIR           where the data is kept (./data; SMALT_DATA)
  --log-level L        trace, debug, info, warn, error, fatal or silent (info; SMALT_LOG_LEVEL)
  -h, --help           print this text
  -v, --version        print the version

Limits are set by SMALT_LIMITS_BODY_BYTES and the like; "smalt config" shows them all.
Exit codes: 0 ok, 1 failed, 2 usage, 3 configuration, 4 store out of reach, 6 conflict (data or port in use),
130 interrupted.
`
