/** What a caller sees of an event that is kept: made when they read, by the access lists that count then. */
import type { Caller } from '../access/caller.ts'
import { type View, viewOf } from '../access/view.ts'
import { ServiceError } from '../base/errors.ts'
import { type JsonObject, parseTrusted } from '../base/json.ts'
import { memoized, once } from '../base/memo.ts'
import type { Event, Happening } from '../events/event.ts'
import { visibleEvent } from '../events/visible-event.ts'
import { type Hook, parseHooks } from '../metadata/hooks.ts'
import { type Schema, allFields } from '../schema/schema.ts'
import type { KeptEvent } from '../store/events.ts'
import type { Deps } from './deps.ts'
import type { JsonText } from './response.ts'

/** With the number that readers go on from. */
export type NumberedEvent = Event & { readonly seq: number }

type Seeing = Pick<Deps, 'schemaOf'>

/** Undefined when the caller sees nothing of it, or its entity or version is gone. */
export function eventFor(deps: Seeing, kept: KeptEvent, caller: Caller): NumberedEvent | undefined {
  const opened = openEvent(kept)
  const view = viewFor(deps, opened, caller)
  return view && numberedEvent(opened, view)
}

export function eventTextFor(deps: Seeing, kept: KeptEvent, caller: Caller): JsonText | undefined {
  return printed(eventFor(deps, kept, caller))
}

/** The same, of an event that is held for many: those who see alike share the text. */
export function sharedEventTextFor(deps: Seeing, kept: KeptEvent, caller: Caller): JsonText | undefined {
  const opened = openedOnce(kept)
  const view = viewFor(deps, opened, caller)
  if (!view) return undefined
  const { key } = sharedSight(view)
  if (key === undefined) return printed(numberedEvent(opened, view))
  const texts = textsOf(kept)(view.schema)
  if (!texts.has(key)) texts.set(key, printed(numberedEvent(opened, view)))
  return texts.get(key)
}

function viewFor({ schemaOf }: Seeing, { kept, entityVersion }: Opened, caller: Caller): View | undefined {
  try {
    const view = viewOf(schemaOf(kept.entity, entityVersion))(caller)
    return view.admitsTo('find') ? view : undefined
  } catch (error) {
    if (error instanceof ServiceError && GONE.has(error.code)) return undefined
    throw error
  }
}

/** A version that is disabled shows nothing any more, also of what was done with it. */
const GONE: ReadonlySet<string> = new Set(['crud:UnknownEntity', 'crud:DisabledMetadataVersion'])

function numberedEvent({ kept, hook, ...opened }: Opened, view: View): NumberedEvent | undefined {
  if (!hook) return undefined
  const { id, seq, operation } = kept
  const { principal, date } = opened
  const event = visibleEvent({ id, operation, principal, date, ...opened.states() }, { hook, view })
  if (!event) return undefined
  const { id: _, ...rest } = event
  return { id, seq, ...rest }
}

function printed(event: NumberedEvent | undefined): JsonText | undefined {
  return event && JSON.stringify(event)
}

const textsOf = memoized((_kept: KeptEvent) =>
  memoized((_schema: Schema) => new Map<string, JsonText | undefined>()),
)

/** What is hidden from a caller, the same text for all who see alike; none where that differs from document to document. */
const sharedSight = memoized((view: View): { readonly key: string | undefined } => {
  if (view.sightOf || view.rulesFor('find').length > 0) return { key: undefined }
  const hidden = [...allFields(view.schema.root.fields)].filter(view.sight.isHidden)
  return { key: hidden.map(({ path }) => path).join('\n') }
})

interface Opened extends Pick<Happening, 'principal' | 'date'> {
  readonly kept: KeptEvent
  readonly entityVersion: string
  /** Undefined where it means nothing to this release. */
  readonly hook: Hook | undefined
  readonly states: () => Pick<Happening, 'before' | 'after'>
}

function openEvent(kept: KeptEvent): Opened {
  const { details } = kept
  const split = details.indexOf(HOOK)
  const { entityVersion, principal, date } = JSON.parse(`${details.slice(0, split)}}`) as Opened
  const hook = hookFrom(details.slice(split + HOOK.length, -1))
  return { kept, entityVersion, principal, date, hook, states: once(() => statesOf(kept)) }
}

const openedOnce = memoized(openEvent)

/** Stands after the last of the texts, in which quotes are escaped. */
const HOOK = ',"hook":'

function statesOf({ before, after }: KeptEvent): Pick<Happening, 'before' | 'after'> {
  return {
    ...(before !== null && { before: parseTrusted(before) as JsonObject }),
    ...(after !== null && { after: parseTrusted(after) as JsonObject }),
  }
}

/** By its text, of which there are few: events of one hook are made by the same one, which is compiled once. */
const hooks = new Map<string, Hook | undefined>()
const MOST_HOOKS = 1_000

function hookFrom(text: string): Hook | undefined {
  if (hooks.has(text)) return hooks.get(text)
  const hook = parseHook(text)
  if (hooks.size >= MOST_HOOKS) hooks.clear()
  hooks.set(text, hook)
  return hook
}

function parseHook(text: string): Hook | undefined {
  try {
    return parseHooks([parseTrusted(text)], '')[0]
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}
