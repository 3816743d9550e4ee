/** Bulk: runs many requests as one. Entries run independently, or atomically in one transaction. */
import type { Caller } from '../../access/caller.ts'
import { type Answer, type OnceAnswer, keyedRequestOf, runInParts, runOnce } from '../idempotency.ts'
import type { BulkEntry } from '../request/bulk-request.ts'
import { type DataResponse, type JsonText, type JsonTextParts, printResponse } from '../response.ts'
import { RolledBack, runAtomically } from './atomic-entries.ts'
import { type BulkRunner, type KeyedBulkRunner, type RunningBulk, datasourceOf } from './entries.ts'
import { runIndependently } from './independent-entries.ts'
import { overtakenEntries } from './overtaken-entries.ts'

/** The responses of all entries together are limited to the size of one response. */
export async function bulk(runner: BulkRunner, caller: Caller, request: RunningBulk): Promise<JsonTextParts> {
  const { entries } = request
  const texts = request.atomic
    ? printAll(runner, await runAtomically(runner, caller, request))
    : textsOf(await runIndependently(runner, caller, request))
  return listed(entries, texts)
}

/** The context has an idempotency key. */
export async function bulkOnce(
  runner: KeyedBulkRunner,
  caller: Caller,
  request: RunningBulk,
): Promise<OnceAnswer> {
  const { entries, context } = request
  // A dry run writes nothing, so there is nothing to keep.
  if (request.isDryRun) {
    return { status: 200, text: (await bulk(runner, caller, request)).join(''), isRepeated: false }
  }
  const keyedRequest = keyedRequestOf(context.idempotency!, caller, context)
  const { storeIn, limits, now } = runner
  if (!request.atomic) {
    return await runInParts(
      { store: storeIn(undefined), limits, now },
      keyedRequest,
      async ({ isRepeated }) => {
        const overtaken = isRepeated && (await overtakenEntries(runner, caller, request))
        const due = { ...request, ...(overtaken && { overtaken }) }
        const answers = await runIndependently(runner, caller, due)
        const text = listed(entries, textsOf(answers)).join('')
        return { status: 200, text, isComplete: answers.every(({ status }) => status < 400) }
      },
    )
  }
  const datasource = entries.map((entry) => datasourceOf(runner, entry)).find((each) => each !== undefined)
  const store = storeIn(datasource)
  try {
    return await runOnce({ store, limits, now }, keyedRequest, async (session) => {
      const transact: BulkRunner['transact'] = (_, work) => work(runner.operationsIn(session, store))
      const responses = await runAtomically({ ...runner, transact }, caller, request)
      if (responses.some(({ status }) => status !== 'COMPLETE')) throw new RolledBack(responses)
      return { status: 200, text: listed(entries, printAll(runner, responses)).join('') }
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
    const text = listed(entries, printAll(runner, error.responses)).join('')
    return { status: 200, text, isRepeated: false }
  }
}

function textsOf(answers: readonly Answer[]): readonly JsonText[] {
  return answers.map(({ text }) => text)
}

function printAll(runner: BulkRunner, responses: readonly DataResponse[]): readonly JsonText[] {
  return responses.map((each) => printResponse(runner.respond(each)))
}

function listed(entries: readonly BulkEntry[], texts: readonly JsonText[]): JsonTextParts {
  const parts = texts.flatMap((text, i) => [
    `${i === 0 ? '' : ','}{"seq":${entries[i]!.seq},"response":`,
    text,
    '}',
  ])
  return ['{"responses":[', ...parts, ']}']
}
