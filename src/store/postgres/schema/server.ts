/** Examines the server at the start: whether Smalt can work with it, and whether it keeps what it acknowledges. */
import { ServiceError } from '../../../base/errors.ts'
import { forbidden } from '../connection/failures.ts'
import type { Location } from '../connection/location.ts'
import type { Connection, SqlSession } from '../connection/connection.ts'
import type { Connections, Row } from '../connection/connections.ts'

export interface Server {
  /** Whether the database is the coordinator of a Citus cluster. */
  readonly isCluster: boolean
  /** Sentences about settings under which an acknowledged write can be lost. */
  readonly warnings: readonly string[]
}

export async function examineServer(
  connections: Pick<Connections, 'with'>,
  location: Location,
): Promise<Server> {
  try {
    return await connections.with((connection) => examine(connection, location))
  } catch (error) {
    if (!isOfPooler(error)) throw error
    throw new Error(POOLER, { cause: error })
  }
}

async function examine(session: Connection, { schema }: Location): Promise<Server> {
  const [row] = await session.query({ text: FACTS, values: [] })
  const facts = Object.fromEntries(NAMES.map((name, i) => [name, row![i] ?? ''])) as Facts
  if (facts.server_encoding !== 'UTF8') {
    throw new Error(
      `the database is encoded in ${facts.server_encoding}; Smalt needs one in UTF8 (create database … encoding 'UTF8')`,
    )
  }
  if (facts.search_path !== schema) {
    throw new Error(
      `the connection does not use the schema "${schema}" but "${facts.search_path}": a connection pooler in between drops the startup parameter "options"; connect to PostgreSQL itself`,
    )
  }
  // A pooler reports an id of its own.
  if (facts.backend !== String(session.backend)) throw new Error(POOLER)
  const isCluster = facts.has_citus === 't'
  if (isCluster) await requireCoordinator(session)
  return { isCluster, warnings: warningsAbout(facts) }
}

const POOLER =
  'a connection pooler is between Smalt and the database: through it no statement can be cancelled, and advisory locks, notifications and prepared statements do not belong to one connection; connect to PostgreSQL itself, since Smalt pools its connections (?pool=N)'

/** PgBouncer refuses parameters of a connection that it does not know. */
function isOfPooler(error: unknown): boolean {
  return error instanceof Error && error.message.includes('unsupported startup parameter')
}

const NAMES = [
  'server_encoding',
  'search_path',
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'backend',
  'has_citus',
] as const

type Facts = Readonly<Record<(typeof NAMES)[number], string>>

const FACTS = `select ${NAMES.slice(0, -2)
  .map((name) => `current_setting('${name}')`)
  .join(', ')}, pg_backend_pid(), exists (select 1 from pg_extension where extname = 'citus')`

async function requireCoordinator(session: SqlSession): Promise<void> {
  const [row]: readonly Row[] = await session.query({ text: 'select citus_is_coordinator()', values: [] })
  if (row![0] === 't') return
  throw new Error(
    'the server is a worker of a Citus cluster; connect to the coordinator, which knows all tables of Smalt',
  )
}

function warningsAbout({ fsync, full_page_writes, synchronous_commit }: Facts): readonly string[] {
  const lost = 'a write that was acknowledged can be lost when the database server crashes'
  return [
    fsync === 'off' && `fsync is off: ${lost}, and the whole database can become unusable`,
    full_page_writes === 'off' && `full_page_writes is off: ${lost} and leaves half-written pages`,
    synchronous_commit === 'off' && `synchronous_commit is off for the sessions of Smalt: ${lost}`,
  ].filter((each) => each !== false)
}

/** Fails if the role has lost rights on the schema or on a table of it: requests that need them fail, too. */
export async function requireRights(session: SqlSession, schema: string): Promise<void> {
  const [row] = await session.query({ text: MISSING_RIGHTS, values: [schema] })
  if (row![0] !== '0') throw forbidden()
}

/** Tables of others may be in the same schema: the names are those that migrations and `catalogue.ts` give. */
const MISSING_RIGHTS = `select (count(*) filter (where not (
    has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
    and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))))::text
  from pg_namespace n join pg_class c on c.relnamespace = n.oid
  where n.nspname = $1 and c.relkind in ('r', 'p') and c.relname ~ '^(smalt_[a-z_]+|doc_[0-9]+_[0-9]+(_c)?|(claim|past)_[0-9]+)$'`

/** Fails if a worker of the cluster does not respond: finds that need its documents fail, too. */
export async function requireWorkers(session: SqlSession): Promise<void> {
  const [row] = await session.query({ text: UNREACHABLE_WORKERS, values: [] })
  const [unreachable, all] = row!
  if (unreachable === '0') return
  const message = `${unreachable} of the ${all} workers of the cluster cannot be reached`
  throw new ServiceError('crud:Unavailable', message)
}

const UNREACHABLE_WORKERS = `select count(*) filter (where not success), count(*) from run_command_on_workers('select 1')`
