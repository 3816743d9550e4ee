/** Streaming find: documents line by line, in constant memory, with backpressure. */
import type { Caller } from '../../access/caller.ts'
import { ServiceError, internalError } from '../../base/errors.ts'
import { planFind } from '../../plan/read.ts'
import type { Schema } from '../../schema/schema.ts'
import { createTimeSlices } from '../../base/work/time-slices.ts'
import { INLINE_STEPS, TooMuchForThisThread, Work, during } from '../../base/work/work.ts'
import { type Deps, boundsOf, pageBounds, workOf } from '../deps.ts'
import { resolveAndAuthorizeFind } from './plan-find.ts'
import { type Page, createPage } from './page.ts'
import { countMatches, isInStatement } from './read-page.ts'
import type { FindRequest } from '../request/request.ts'
import type { JsonText } from '../response.ts'
import { accessWatch } from './stream-access.ts'
import { type ReadDocument, streamPage } from './stream-documents.ts'

/** An error before the first document fails the request like any find; a later error is reported in the last line. */
export async function stream(
  deps: Deps,
  caller: Caller,
  request: FindRequest,
): Promise<AsyncIterable<JsonText>> {
  if (request.page) throw pageInStream()
  const allowed = resolveAndAuthorizeFind(deps, caller, request)
  const { schema } = allowed
  const requireAccess = accessWatch(deps, { allowed, caller, request })
  const plan = planFind(allowed, isInStatement(deps))
  const work = workOf(deps, request)
  const { work: _, ...bounds } = { ...boundsOf(work, request), timeLimitMs: work.timeLimitMs }
  // Readers may be slow, so each statement has a time limit of its own.
  const reading = { deps, schema, bounds, asOf: request.asOf }
  const page = createPage(allowed, plan, pageBounds(deps, work))
  const documents = streamPage(plan, reading)
  const first = await documents.next()
  const count = async (): Promise<number> => (plan.read.counted ? await countMatches(plan, reading) : 0)
  const { onInternalError, dialect } = deps
  const line = lineOf(page, request, deps)
  return lines(schema, { line, count, first, rest: documents, requireAccess, onInternalError, dialect })
}

function pageInStream(): ServiceError {
  const message =
    'a stream returns all matches and has no pages; leave "page" out, or do not ask for a stream'
  return new ServiceError('crud:InvalidRequest', message, { at: '/page' })
}

/**
 * Streams write only once they have collected enough, and read documents by the page. Between two documents nothing else
 * would let other requests run. All streams of the process take turns, because each has a budget of its own.
 */
const SLICE_MS = 5
const nextSlice = createTimeSlices(SLICE_MS)

/** Each document has its own budget; a document that is too much for this thread is rendered by a worker thread. */
function lineOf(page: Page, request: FindRequest, { limits }: Deps) {
  const { offload, body } = request
  return async (...[document, joinedSets]: ReadDocument): Promise<JsonText> => {
    const steps = offload && { steps: INLINE_STEPS }
    const own = new Work({ timeLimitMs: limits.queryTimeMs, ...steps })
    try {
      return during(own, () => page.line(document, joinedSets))
    } catch (error) {
      if (!(error instanceof TooMuchForThisThread) || !offload) throw error
      const { text } = await offload('line', request, { find: body, id: document.id })
      return text
    }
  }
}

interface Running {
  readonly line: (...document: ReadDocument) => Promise<JsonText>
  readonly first: IteratorResult<ReadDocument, unknown>
  readonly rest: AsyncIterator<ReadDocument>
  readonly count: () => Promise<number>
  readonly requireAccess: () => void
  readonly onInternalError: (error: unknown) => void
  readonly dialect: Deps['dialect']
}

/** The cursor is closed however the iteration ends, even right after the header. */
async function* lines(schema: Schema, running: Running): AsyncGenerator<JsonText> {
  const { line, first, rest, count, requireAccess, dialect } = running
  const { entity, version: entityVersion } = schema
  // The line of a document waits for the next one, because the last one is marked.
  let waiting: JsonText = ''
  try {
    yield JSON.stringify(dialect.header({ entity, entityVersion, status: 'COMPLETE' }))
    for (let next = first; !next.done; next = await rest.next()) {
      await nextSlice()
      requireAccess()
      const text = await line(...next.value)
      // Empty if the document has been deleted since it was read.
      if (text === '') continue
      // Again, because another thread may have rendered the line for long.
      requireAccess()
      if (waiting !== '') yield waiting
      waiting = text
    }
    requireAccess()
    if (waiting !== '') yield marked(waiting)
    waiting = ''
    const matchCount = await count()
    requireAccess()
    yield JSON.stringify({ last: true, status: 'COMPLETE', matchCount })
  } catch (error) {
    if (waiting !== '' && isAllowed(requireAccess)) yield waiting
    // The response has begun, so the error is reported in its last line, and in the log.
    if (!(error instanceof ServiceError)) running.onInternalError(error)
    const problem = error instanceof ServiceError ? error : internalError()
    const errors = [dialect.error(problem.within(`find(${entity}:${entityVersion})`).toObject())]
    yield JSON.stringify({ last: true, status: 'ERROR', matchCount: 0, errors })
  } finally {
    await rest.return?.()
  }
}

/** Clients of Lightblue look for `last` in the line of a document. */
function marked(line: JsonText): JsonText {
  return `{"last":true,${line.slice(1)}`
}

function isAllowed(requireAccess: () => void): boolean {
  try {
    requireAccess()
    return true
  } catch {
    return false
  }
}
