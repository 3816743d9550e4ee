/**
 * Most finds of an application differ from each other only in the texts they compare with. The second of such finds
 * makes a template, of which the plans for all others are made, as long as metadata and caller stay the same.
 */
import type { Authorized } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import type { AllowedFind } from '../access/requests.ts'
import { ServiceError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { memoized } from '../base/memo.ts'
import type { FindPlan } from '../plan/read.ts'
import { blanksIn, fillIn } from '../plan/template.ts'
import type { Deps } from './deps.ts'
import { type Outline, outlineOf } from './outline.ts'
import type { Target } from './service.ts'

/** A find as this caller may have it, and how it is done. */
export interface PreparedFind {
  readonly allowed: Authorized<AllowedFind>
  readonly plan: FindPlan
  readonly maxTimeMs: number | undefined
}

interface Preparing {
  readonly deps: Pick<Deps, 'metadata'>
  readonly caller: Caller
  readonly prepare: (body: Json) => PreparedFind
}

export function preparedOnce(
  { target, body }: { readonly target: Target; readonly body: Json },
  { deps, caller, prepare }: Preparing,
): PreparedFind {
  const outline = outlineOf(body)
  if (!outline) return prepare(body)
  const key = `${JSON.stringify([target.entity, target.version])}${outline.key}`
  const known = templatesIn(deps.metadata()).of(caller)
  const found = known.get(key)
  if (!found) known.set(key, 'seen')
  if (!found || found === 'unfit') return prepare(body)
  const template = found === 'seen' ? templateOf(outline, prepare) : found
  known.set(key, template)
  if (template === 'unfit') return prepare(body)
  const { plan } = template
  return { ...template, plan: { ...plan, read: fillIn(plan.read, outline.texts) } }
}

type Template = PreparedFind | 'unfit'

/** What is wrong with a find is told in its own words, and not in those of a template. */
function templateOf({ body, texts }: Outline, prepare: Preparing['prepare']): Template {
  try {
    const template = prepare(body)
    return blanksIn(template.plan.read).length === texts.size ? template : 'unfit'
  } catch (error) {
    if (error instanceof ServiceError) return 'unfit'
    throw error
  }
}

interface Templates {
  /** By what the finds have in common; `seen` is what was asked once. */
  of(caller: Caller): Map<string, Template | 'seen'>
}

/** Of metadata that are not in use any more nothing is kept, nor of callers who are gone. */
const templatesIn = memoized((_metadata: object): Templates => {
  let callers = 0
  let byCaller = new WeakMap<Caller, Map<string, Template | 'seen'>>()
  return {
    of(caller) {
      const known = byCaller.get(caller)
      if (known && known.size < MOST_OF_ONE) return known
      if (++callers > MOST_CALLERS) {
        byCaller = new WeakMap()
        callers = 1
      }
      const fresh = new Map<string, Template | 'seen'>()
      byCaller.set(caller, fresh)
      return fresh
    },
  }
})

const MOST_OF_ONE = 100
const MOST_CALLERS = 50
