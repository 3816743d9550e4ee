/** Writes of plain documents with an idempotency key. The headers of the answer are kept with it. */
import type { Limits } from '../../base/limits.ts'
import type { Deps } from '../deps.ts'
import { type Answer, keyedRequestOf, runOnce } from '../idempotency.ts'
import { keyedElsewhere, storeFor, within } from '../keyed-session.ts'
import type { DocumentReply, OnceService } from '../service.ts'
import { documentService } from './documents.ts'

export function documentsOnce(deps: Deps): OnceService['document'] {
  return async (caller, { target, write }, idempotency) => {
    const store = storeFor(deps, target)
    // Without an entity there is nothing to write: the error says so.
    if (!store) return { ...(await write(documentService(deps))), isRepeated: false }
    const keyedRequest = keyedRequestOf(idempotency, caller, target)
    const answer = await runOnce(
      { ...deps, store, limits: forWhole(deps.limits) },
      keyedRequest,
      async (session) => {
        const own = documentService(within(deps, session, { store, refuse: keyedElsewhere }))
        return printReply(await write(own))
      },
    )
    return { ...readReply(answer), isRepeated: answer.isRepeated }
  }
}

/** The answer is the whole document, and a caller cannot ask for less: it is kept whatever its size. */
function forWhole(limits: Limits): Limits {
  return { ...limits, idempotencyAnswerBytes: Math.max(limits.idempotencyAnswerBytes, limits.resultBytes) }
}

/** The headers are the first line. */
function printReply({ status, text, headers }: DocumentReply): Answer {
  return { status, text: `${JSON.stringify(headers)}\n${text}` }
}

function readReply({ status, text }: { readonly status: number; readonly text: string }): DocumentReply {
  const end = text.indexOf('\n')
  return { status, text: text.slice(end + 1), headers: JSON.parse(text.slice(0, end)) as readonly string[] }
}
