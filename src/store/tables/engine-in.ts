/** Engines for a part of a request. */
import type { Bounds } from '../bounds.ts'
import type { BatchOptions, Engine, EngineSession, Rows } from '../engine.ts'
import { type Fragment, raw } from '../sql/fragment.ts'

/** An engine whose statements all run in one open transaction, so that bookkeeping can be part of a larger write. */
export function engineIn(engine: Engine, session: EngineSession): Engine {
  return {
    ...engine,
    run: (_, work) => work(),
    query: (statement) => session.query(statement),
    batch: (async (statements: readonly Fragment[], options: BatchOptions = {}) => {
      if (options.claim !== undefined) await engine.claim(session, options.claim)
      return await batchIn(session, statements, options)
    }) as Engine['batch'],
    transaction: (work) => work(session),
  }
}

/** The same engine for one request, within whose bounds its statements run. */
export function engineFor(engine: Engine, bounds: Bounds | undefined): Engine {
  if (!bounds) return engine
  return {
    ...engine,
    query: (statement, options) => engine.query(statement, { bounds, ...options }),
    batch: (statements: readonly Fragment[], options?: BatchOptions) =>
      engine.batch(statements, { bounds, ...options }),
  }
}

async function batchIn(
  session: EngineSession,
  statements: readonly Fragment[],
  { undoUnless }: BatchOptions,
): Promise<readonly Rows[] | undefined> {
  const results: Rows[] = []
  if (undoUnless === undefined) {
    for (const statement of statements) results.push(await session.query(statement))
    return results
  }
  await session.query(raw('savepoint batch'))
  for (const [i, statement] of statements.entries()) {
    const rows = await session.query(statement)
    results.push(rows)
    if (i !== undoUnless || rows.length > 0) continue
    await session.query(raw('rollback to savepoint batch'))
    await session.query(raw('release savepoint batch'))
    return undefined
  }
  await session.query(raw('release savepoint batch'))
  return results
}
