/** What `smalt --help` says. */
export const HELP = `Smalt stores JSON documents by entity, with versioned schemas and access by role.

  smalt                          start on http://127.0.0.1:8080, data in ./data
  smalt --port 9000 --data /srv  start elsewhere
  smalt --store postgres://user:password@host/database --workers 4
                                 keep the data in PostgreSQL, serve it by four processes
  smalt config                   print the configuration in effect
  smalt token add --principal ann --role editor --expires 90d
                                 make a token for ann; smalt --auth tokens takes it
  smalt move --from sqlite:./data --to postgres://user:password@host/database
                                 copy everything into an empty PostgreSQL store, and check it
  smalt events dead redrive --sink kitchen
                                 try again what the sink kitchen did not take

Commands
  serve                start the service (what happens without a command)
  config               print the effective configuration as JSON; "config schema" the schema of smalt.json
  token                add, list or revoke tokens: token add, token list, token revoke ID
  lint                 tell what is doubtful about the metadata of a store, such as fields that one version hides
                       and another shows; warnings end it with 7
  events dead          list, show, redrive or discard events that a sink did not take, at a running service:
                       events dead list, events dead show, events dead redrive, events dead discard
  move                 copy all of a store that nobody uses into an empty one; locks stay behind
  help                 print this text
  version              print the version

Options
  --port N             port to listen on, 0 picks a free one (8080; SMALT_PORT)
  --host H             address to listen on (127.0.0.1; SMALT_HOST)
  --data DIR           directory that the data is kept in (./data; SMALT_DATA)
  --store LOCATION     where it is kept instead: postgres://... or sqlite:DIR (SMALT_STORE)
  --datasource NAME=LOCATION
                       another place for documents, by the name that metadata calls it; may be
                       repeated (SMALT_DATASOURCES, a list with commas or spaces)
  --workers N          processes that share the port, with PostgreSQL only (1; SMALT_WORKERS)
  --auth MODES         who may ask: open, tokens, jwt, proxy, by commas (open; SMALT_AUTH)
  --config FILE        file of settings (smalt.json if there is one; SMALT_CONFIG)
  --log-level L        trace, debug, info, warn, error, fatal or silent (info; SMALT_LOG_LEVEL)
  --from LOCATION      move: the store to copy
  --to LOCATION        move: the empty store to fill
  --check              move: count, look for what is in the way, and copy nothing
  --restart            move: take away what a move that broke off left in the target, then begin
  --principal P        token add: who uses the token
  --role R             token add: a role of the token; may be repeated
  --permission P       token add: a permission besides those of its roles; may be repeated
  --claim NAME=VALUE   token add: a claim that row rules may name; may be repeated
  --expires E          token add: until when it counts, such as 90d, 12h or 2030-12-31
  --entity E           lint: look at this entity only
  --sink NAME          events dead: of which sink
  --event ID           events dead show, discard: which one; redrive: only this one
  --url URL            events dead: where the service is (http://127.0.0.1:8080)
  --token T            events dead: what the caller is known by; better in SMALT_TOKEN, which others cannot see
  --json               move, token list, lint, events dead list: print JSON
  -h, --help           print this text
  -v, --version        print the version

Every setting of smalt.json has a variable: limits.bodyBytes is SMALT_LIMITS_BODY_BYTES. Flags win over variables, these
over the file. "smalt config" shows what is in effect, and where it came from.
Exit codes: 0 ok, 1 failed, 2 usage, 3 configuration, 4 store or service out of reach, 5 access denied,
6 conflict (data or port in use, target
of a move not empty), 7 lint has warnings, 130 interrupted.
`
