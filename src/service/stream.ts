/** Streaming find: documents line by line, in constant memory, at the pace of the reader. */
import type { Caller } from '../access/caller.ts'
import { ServiceError, internalError } from '../base/errors.ts'
import { planFind } from '../plan/read.ts'
import type { Schema } from '../schema/schema.ts'
import { type Deps, boundsOf } from './deps.ts'
import { allowedFind } from './find.ts'
import { type Page, createPage } from './page.ts'
import { countMatches, goesAlong } from './read-page.ts'
import type { FindRequest } from './request.ts'
import type { JsonText } from './response.ts'
import { accessWatch } from './stream-access.ts'
import { type ReadDocument, streamPage } from './stream-page.ts'

/** What fails before the first document fails here, and is answered as any find; what fails later is told at the end. */
export async function stream(
  deps: Deps,
  caller: Caller,
  request: FindRequest,
): Promise<AsyncIterable<JsonText>> {
  const allowed = allowedFind(deps, caller, request)
  const { schema } = allowed
  const requireAccess = accessWatch(deps, { allowed, caller, request })
  const plan = planFind(allowed, goesAlong(deps))
  const reading = { deps, schema, bounds: boundsOf(deps, request), asOf: request.asOf }
  const page = createPage(allowed, plan, { maxBytes: Infinity, secret: deps.secret() })
  const documents = streamPage(plan, reading)
  const first = await documents.next()
  const count = async (): Promise<number> => (plan.read.counted ? await countMatches(plan, reading) : 0)
  const { onInternalError } = deps
  return lines(schema, { page, count, first, rest: documents, requireAccess, onInternalError })
}

interface Running {
  readonly page: Page
  readonly first: IteratorResult<ReadDocument, unknown>
  readonly rest: AsyncIterator<ReadDocument>
  readonly count: () => Promise<number>
  readonly requireAccess: () => void
  readonly onInternalError: (error: unknown) => void
}

/** However it ends, also right after the header, the cursor behind it is closed. */
async function* lines(schema: Schema, running: Running): AsyncGenerator<JsonText> {
  const { page, first, rest, count, requireAccess } = running
  const { entity, version: entityVersion } = schema
  try {
    yield JSON.stringify({ entity, entityVersion, status: 'COMPLETE' })
    for (let next = first; !next.done; next = await rest.next()) {
      requireAccess()
      yield page.line(...next.value)
    }
    const matchCount = await count()
    requireAccess()
    yield JSON.stringify({ last: true, status: 'COMPLETE', matchCount })
  } catch (error) {
    // The response has begun, so the failure is told at its end, and to whoever keeps the log.
    if (!(error instanceof ServiceError)) running.onInternalError(error)
    const problem = error instanceof ServiceError ? error : internalError()
    const errors = [problem.within(`find(${entity}:${entityVersion})`).toObject()]
    yield JSON.stringify({ last: true, status: 'ERROR', matchCount: 0, errors })
  } finally {
    await rest.return?.()
  }
}
