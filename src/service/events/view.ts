/** Renders a stored event for a caller, by the access lists that are valid at the time of reading. */
import { type Caller, admits } from '../../access/caller.ts'
import { type View, viewOf } from '../../access/view.ts'
import { ServiceError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { memoized } from '../../base/memo.ts'
import { SharedWork } from '../../base/work/shared-work.ts'
import { callerLeft } from '../../base/work/work.ts'
import { SizedCache } from '../../base/sized-cache.ts'
import type { DocumentChange, Event } from '../../events/event.ts'
import { visibleEvent } from '../../events/visible-event.ts'
import { type WatchingHook, parseHooks, watchingHooks } from '../../metadata/documents/hooks.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import type { EventHead, EventStates, StoredEvent } from '../../store/events.ts'
import type { Deps } from '../deps.ts'
import type { JsonText } from '../response.ts'
import type { RenderedEvent } from '../service.ts'

/** An event with its number, from which readers resume. */
type NumberedEvent = Event & { readonly seq: number }

type SchemaLookup = Pick<Deps, 'schemaOf'>

/** Documents of more bytes are compared and rendered in another thread, where there is one. */
export const LARGE_BYTES = 128 * 1024

interface MetadataState {
  /** Of the metadata in use. */
  readonly epoch: () => number
}

/** Undefined if nothing of the event is visible to the caller, or if its entity or version was removed. */
export function eventFor(deps: SchemaLookup, kept: StoredEvent, caller: Caller): NumberedEvent | undefined {
  const opened = openDetails(kept)
  const view = viewFor(deps, kept.entity, opened, caller)
  return view && numberedEvent(kept, { opened, states: kept, view })
}

/**
 * Whether events of this kind may be visible to a caller at all. Decided without documents and without a view
 * of the fields, so that callers without access cost almost nothing.
 */
export function mayBeSeen({ schemaOf }: SchemaLookup, head: EventHead, caller: Caller): boolean {
  try {
    return admits(schemaOf(head.entity, openedOnce(head).entityVersion).access.find, caller)
  } catch (error) {
    if (isGone(error)) return false
    throw error
  }
}

/** Events as JSON, rendered once for all callers with the same visibility. */
interface EventTexts {
  /** Undefined if it has to be rendered; empty if nothing is visible. */
  readonly known: (head: EventHead, caller: Caller) => JsonText | undefined
  readonly make: (head: EventHead, states: EventStates, caller: Caller) => JsonText
  /**
   * The same by `render`, which runs once for all callers with the same visibility who ask at the same time, and is
   * aborted when all of them have left.
   */
  readonly makeBy: (
    render: (signal: AbortSignal) => Promise<RenderedEvent>,
    head: EventHead,
    reader: WaitingReader,
  ) => Promise<JsonText>
}

interface WaitingReader {
  readonly caller: Caller
  /** Aborted when the caller does not wait any more. */
  readonly left?: AbortSignal
}

const TEXT_CHARACTERS = 16 * 1024 * 1024

export function createEventTexts(deps: SchemaLookup & MetadataState): EventTexts {
  const texts = new SizedCache<string, JsonText>(TEXT_CHARACTERS)
  const keyOf = ({ seq }: EventHead, view: View): string | undefined => {
    const { mark } = sharedVisibility(view)
    return mark && `${seq}/${mark}`
  }
  const viewBy = (head: EventHead, caller: Caller): View | undefined =>
    viewFor(deps, head.entity, openedOnce(head), caller)
  const inProgress = new Map<string, SharedWork<Shared>>()
  async function makeBy(
    render: (signal: AbortSignal) => Promise<RenderedEvent>,
    head: EventHead,
    reader: WaitingReader,
  ): Promise<JsonText> {
    if (reader.left?.aborted) throw callerLeft()
    const view = viewBy(head, reader.caller)
    if (!view) return ''
    const key = keyOf(head, view)
    const others = key === undefined ? undefined : inProgress.get(key)
    if (others) {
      const { text, isForAll } = await others.waitFor(reader.left).catch(() => NOTHING_SHARED)
      if (isForAll) return text
      // It is only for the caller who asked for it.
      return await makeBy(render, head, reader)
    }
    const epoch = deps.epoch()
    const shared = async (signal: AbortSignal): Promise<Shared> => {
      const { text, epoch: used } = await render(signal)
      // Callers who see the same by one state of the metadata may not by another one.
      const isForAll = key !== undefined && used === epoch && deps.epoch() === epoch
      if (isForAll) texts.set(key, text, text.length + key.length)
      return { text, isForAll }
    }
    const rendering = new SharedWork(shared, () => key !== undefined && inProgress.delete(key))
    if (key !== undefined) inProgress.set(key, rendering)
    return (await rendering.waitFor(reader.left)).text
  }
  return {
    known(head, caller) {
      const view = viewBy(head, caller)
      if (!view) return ''
      const key = keyOf(head, view)
      return key === undefined ? undefined : texts.get(key)
    },
    make(head, states, caller) {
      const view = viewBy(head, caller)
      if (!view) return ''
      const key = keyOf(head, view)
      const known = key === undefined ? undefined : texts.get(key)
      if (known !== undefined) return known
      const event = numberedEvent(head, { opened: openedOnce(head), states, view })
      const text = event ? JSON.stringify(event) : ''
      if (key !== undefined) texts.set(key, text, text.length + key.length)
      return text
    },
    makeBy,
  }
}

interface Shared {
  readonly text: JsonText
  readonly isForAll: boolean
}

const NOTHING_SHARED: Shared = { text: '', isForAll: false }

function viewFor(
  { schemaOf }: SchemaLookup,
  entity: string,
  { entityVersion }: Opened,
  caller: Caller,
): View | undefined {
  try {
    const view = viewOf(schemaOf(entity, entityVersion))(caller)
    return view.admitsTo('find') ? view : undefined
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

function isGone(error: unknown): boolean {
  return error instanceof ServiceError && GONE.has(error.code)
}

/** Events of a disabled version are hidden too, including those from before it was disabled. */
const GONE: ReadonlySet<string> = new Set(['crud:UnknownEntity', 'crud:DisabledMetadataVersion'])

type EventIdentity = Pick<StoredEvent, 'id' | 'seq' | 'operation'>

interface Seen {
  readonly opened: Opened
  readonly states: EventStates
  readonly view: View
}

function numberedEvent(
  { id, seq, operation }: EventIdentity,
  { opened, states, view }: Seen,
): NumberedEvent | undefined {
  const { hook, principal, date } = opened
  if (!hook) return undefined
  const event = visibleEvent({ id, operation, principal, date, ...parsed(states) }, { hook, view })
  if (!event) return undefined
  const { id: _, ...rest } = event
  return { id, seq, ...rest }
}

/**
 * A key for the set of hidden fields, shared by all callers with the same visibility. Undefined if visibility
 * differs from document to document, because then nothing can be shared.
 */
const sharedVisibility = memoized((view: View): { readonly mark: string | undefined } => {
  if (view.visibilityOf || view.rulesFor('find').length > 0) return { mark: undefined }
  const hidden = [...allFields(view.schema.root.fields)].filter(view.visibility.isHidden)
  return { mark: marksOf(view.schema)(hidden.map(({ path }) => path).join('\n')) }
})

/**
 * Lists of hidden fields can be long, so short numbers replace them. A number is never reused, because cached
 * texts refer to it.
 */
const marksOf = memoized((_schema: Schema) => {
  const marks = new SizedCache<string, string>(MARKED_CHARACTERS)
  return (hidden: string): string => {
    const known = marks.get(hidden)
    if (known !== undefined) return known
    const mark = String(++lastMark)
    marks.set(hidden, mark, hidden.length + 1)
    return mark
  }
})

/** Callers choose by their roles how many lists there are. */
const MARKED_CHARACTERS = 1_000_000
let lastMark = 0

interface Opened extends Pick<DocumentChange, 'principal' | 'date'> {
  readonly entityVersion: string
  /** Undefined if this release cannot parse the hook. */
  readonly hook: WatchingHook | undefined
}

function openDetails({ details }: Pick<StoredEvent, 'details'>): Opened {
  const split = details.indexOf(HOOK)
  const { entityVersion, principal, date } = JSON.parse(`${details.slice(0, split)}}`) as Opened
  return { entityVersion, principal, date, hook: hookFrom(details.slice(split + HOOK.length, -1)) }
}

const openedOnce = memoized((head: EventHead) => openDetails(head))

/** Separator in the details. It cannot occur in the texts before it, because quotes are escaped there. */
const HOOK = ',"hook":'

function parsed({ before, after }: EventStates): Pick<DocumentChange, 'before' | 'after'> {
  return {
    ...(before !== null && { before: parseTrusted(before) as JsonObject }),
    ...(after !== null && { after: parseTrusted(after) as JsonObject }),
  }
}

/** Parsed hooks by their text. There are few, and events of one hook then share one compiled object. */
const hooks = new Map<string, WatchingHook | undefined>()
const MAX_HOOKS = 1_000

function hookFrom(text: string): WatchingHook | undefined {
  if (hooks.has(text)) return hooks.get(text)
  const hook = parseHook(text)
  if (hooks.size >= MAX_HOOKS) hooks.clear()
  hooks.set(text, hook)
  return hook
}

function parseHook(text: string): WatchingHook | undefined {
  try {
    return watchingHooks(parseHooks([parseTrusted(text)], ''))[0]
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}
