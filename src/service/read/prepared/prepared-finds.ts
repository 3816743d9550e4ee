/**
 * Most finds of an application differ from each other only in the texts they compare with. The second of such finds
 * makes a template, of which the plans for all others are made, as long as metadata and caller stay the same.
 */
import type { Authorized } from '../../../access/authorize.ts'
import type { Caller } from '../../../access/caller.ts'
import type { AllowedFind } from '../../../access/requests.ts'
import { ServiceError } from '../../../base/errors.ts'
import type { Json } from '../../../base/json/json.ts'
import { memoized } from '../../../base/memo.ts'
import type { FindPlan } from '../../../plan/read.ts'
import { blanksIn, fillBlanks } from '../../../plan/template.ts'
import type { Deps } from '../../deps.ts'
import { type Outline, outlineOf } from './query-shape.ts'
import type { Target } from '../../service.ts'

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
  const templates = templatesIn(deps.metadata())
  const key = `${JSON.stringify([target.entity, target.version])}${outline.key}`
  const known = templates.find(caller, key)
  const template = known === 'seen' ? templateOf(outline, prepare) : known
  if (typeof template === 'object') {
    if (template !== known) templates.keep(caller, key, template)
    const { plan } = template
    return { ...template, plan: { ...plan, read: fillBlanks(plan.read, outline.texts) } }
  }
  const prepared = prepare(body)
  // Of what is refused nothing is kept.
  if (template !== known || !known) templates.keep(caller, key, template ?? 'seen')
  return prepared
}

/** What is wrong with a find is told in its own words, and not in those of a template. */
function templateOf({ body, texts }: Outline, prepare: Preparing['prepare']): PreparedFind | 'unfit' {
  try {
    const template = prepare(body)
    return blanksIn(template.plan.read).length === texts.size ? template : 'unfit'
  } catch (error) {
    if (error instanceof ServiceError) return 'unfit'
    throw error
  }
}

/** What was asked once, what no template can be made of, and templates. */
type Kept = 'seen' | 'unfit' | PreparedFind

interface Templates {
  find(caller: Caller, key: string): Kept | undefined
  keep(caller: Caller, key: string, kept: Kept): void
}

/** Of metadata that are not in use any more nothing is kept, nor of callers who are gone. */
const templatesIn = memoized((_metadata: object): Templates => {
  let byCaller = new WeakMap<Caller, Map<string, Kept>>()
  let characters = 0
  return {
    find: (caller, key) => byCaller.get(caller)?.get(key),
    keep(caller, key, kept) {
      characters += key.length
      if (characters > MAX_CHARACTERS) {
        byCaller = new WeakMap()
        characters = key.length
      }
      const own = byCaller.get(caller) ?? new Map<string, Kept>()
      byCaller.set(caller, own.set(key, kept))
    },
  }
})

/** Of the keys of all callers: the longer one is, the more there is to keep. What is asked often is soon there again. */
const MAX_CHARACTERS = 500_000
