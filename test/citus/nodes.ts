/** The nodes of a Citus cluster on this machine, to be ended and started again. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { citusUrl } from '../support/citus.ts'

export interface Node {
  readonly name: string
  /** Of the test's database on this node. */
  readonly url: string
  /** Ends it at once; SIGQUIT and SIGKILL leave the data as a crash would. */
  kill(signal: 'SIGQUIT' | 'SIGKILL'): Promise<void>
  start(): Promise<void>
}

export interface Nodes {
  readonly url: string
  readonly coordinator: Node
  readonly workers: readonly Node[]
}

export async function nodesOfCluster(): Promise<Nodes> {
  const url = citusUrl()
  assert.ok(url, 'SMALT_TEST_CITUS must be the URL of the coordinator of a Citus cluster on this machine')
  const rows = await ask(
    url,
    `select nodename, nodeport from pg_dist_node where groupid > 0 and noderole = 'primary' order by nodeid`,
  )
  assert.ok(rows.length >= 2, 'a cluster with two workers or more')
  const workers = rows.map(({ nodename, nodeport }, i) => {
    const place = new URL(url)
    place.host = `${String(nodename)}:${String(nodeport)}`
    return nodeAt(`worker ${i + 1}`, place.href)
  })
  return { url, coordinator: await nodeAt('coordinator', url), workers: await Promise.all(workers) }
}

async function nodeAt(name: string, url: string): Promise<Node> {
  const [row] = await ask(
    url,
    `select current_setting('data_directory') directory, current_setting('log_directory') log,
       (select setting from pg_config where name = 'BINDIR') programs`,
  )
  const { directory, programs } = row as { readonly directory: string; readonly programs: string }
  const { uid, gid } = statSync(directory)
  return {
    name,
    url,
    async kill(signal) {
      const [pid] = (await readAs({ uid, gid }, join(directory, 'postmaster.pid'))).split('\n')
      process.kill(Number(pid), signal)
      while (isRunning(Number(pid))) await sleep(20)
    },
    async start() {
      // `-w` waits until it accepts connections, after its recovery
      const args = ['-D', directory, '-l', join(directory, 'restarts.log'), '-w', '-t', '60', 'start']
      const starting = spawn(join(programs, 'pg_ctl'), args, { uid, gid, stdio: 'ignore', cwd: '/' })
      const [code] = (await once(starting, 'exit')) as [number]
      assert.equal(code, 0, `${name} does not start again`)
    },
  }
}

/** Only the owner may read the folder of a server. */
async function readAs({ uid, gid }: { readonly uid: number; readonly gid: number }, file: string) {
  const reading = spawn('cat', [file], { uid, gid, stdio: ['ignore', 'pipe', 'inherit'], cwd: '/' })
  let text = ''
  reading.stdout.on('data', (chunk) => (text += String(chunk)))
  await once(reading, 'close')
  return text
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export async function ask(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query({ text, values: [...values] })).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

/** Fails unless the prepared transactions of all nodes have ended within a minute. */
export async function checkNothingPrepared({ coordinator, workers }: Nodes): Promise<void> {
  const deadline = performance.now() + 60_000
  for (const { name, url } of [coordinator, ...workers]) {
    for (;;) {
      const [row] = await ask(url, 'select count(*)::integer n from pg_prepared_xacts')
      if (row!['n'] === 0) break
      assert.ok(performance.now() < deadline, `${name} still has ${String(row!['n'])} prepared transactions`)
      await sleep(200)
    }
  }
}
