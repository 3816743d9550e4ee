/** Renders documents for a response: their text, projected if fields are hidden or not requested. */
import type { Rendering, Visibility } from '../../access/requests.ts'
import { memberCutter } from '../../base/json/cut-members.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { memoized, once } from '../../base/memo.ts'
import { during, spend, spendParsing } from '../../base/work/work.ts'
import { compileProjection } from '../../lang/evaluate/project.ts'
import { hiddenMembers } from '../../lang/evaluate/strip.ts'
import type { Schema } from '../../schema/schema.ts'
import type { StoredDocument } from '../../plan/plan.ts'
import type { Remaining } from '../../plan/read.ts'
import type { PageBounds } from '../deps.ts'
import { documentVersion } from '../document-version.ts'
import { compileEmbed } from './embed/embed.ts'
import { type JoinedSet, joinedSetsOf } from './embed/joined-tree.ts'
import { type DataError, type JsonText, printDataError } from '../response.ts'
import { compileSplice } from './embed/splice.ts'
import { stripForJoins, stripOf } from './hidden-members.ts'
import { tooLargeFailures, tooLargeResult } from '../memory-limits.ts'

/**
 * Documents carry the documents joined in the same statement; only documents that were read separately are
 * passed beside them.
 */
export interface Page {
  /** The visible part of a document. */
  readonly show: (document: StoredDocument, joinedSets?: readonly JoinedSet[]) => JsonText
  readonly take: (document: StoredDocument, joinedSets?: readonly JoinedSet[]) => void
  /** The metadata of a document in the response: its version. */
  readonly metadataOf: (document: StoredDocument) => JsonText
  /** A document and its metadata as one line of a stream; nothing is retained. */
  readonly line: (document: StoredDocument, joinedSets?: readonly JoinedSet[]) => JsonText
  /** Adds a document that failed, which counts towards the size of the same response. */
  readonly addFailure: (failure: () => DataError) => DataError
  /** All documents rendered by `take`. */
  readonly shown: Shown
  /** Releases the bytes reserved in the response, when a store retries and this page is discarded. */
  readonly release: () => void
}

export interface Shown {
  readonly processed: readonly JsonText[]
  readonly resultMetadata: readonly JsonText[]
}

/** Without a remaining projection, documents are rendered as they are stored. */
export function createPage(
  rendering: Rendering,
  remaining: Remaining,
  { work, secret }: PageBounds,
  renderer: DocumentRenderer = createRenderer(rendering, remaining, secret),
): Page {
  const { show, versionOf } = renderer
  const metadataOf = (document: StoredDocument): JsonText => {
    const version = versionOf(document)
    return `{"documentVersion":${isPlain(document.id) ? `"${version}"` : JSON.stringify(version)}}`
  }
  const processed: JsonText[] = []
  const resultMetadata: JsonText[] = []
  const tooLarge = (maxBytes: number): Error => tooLargeResult(maxBytes, remaining.joins)
  let reserved = 0
  const reserve = (size: number, refusal: (maxBytes: number) => Error): void => {
    spend(STEPS_PER_DOCUMENT + size / CHARACTERS_COPIED_PER_STEP)
    work.reserveResponse(size, refusal)
    reserved += size
  }
  return {
    show,
    metadataOf,
    line: (document, joinedSets) =>
      `{"processed":${show(document, joinedSets)},"resultMetadata":${metadataOf(document)}}`,
    shown: { processed, resultMetadata },
    take: (document, joinedSets) =>
      during(work, () => {
        const text = show(document, joinedSets)
        const metadata = metadataOf(document)
        reserve(text.length + metadata.length, tooLarge)
        processed.push(text)
        resultMetadata.push(metadata)
      }),
    addFailure: (failure) =>
      during(work, () => {
        const dataError = failure()
        reserve(printDataError(dataError).length, tooLargeFailures)
        return dataError
      }),
    release() {
      work.releaseResponse(reserved)
      reserved = 0
    },
  }
}

export interface DocumentRenderer {
  readonly show: Page['show']
  readonly versionOf: (document: StoredDocument) => string
}

function createRenderer(rendering: Rendering, remaining: Remaining, secret: string): DocumentRenderer {
  return rendering.shownAs
    ? visibilityPerDocument({ ...rendering, shownAs: rendering.shownAs }, remaining, secret)
    : sameVisibility(rendering, remaining, secret)
}

/** A renderer for all pages of a prepared find. Undefined where a page needs a renderer of its own, which has a state. */
export function sharedRenderer(
  rendering: Rendering,
  remaining: Remaining,
  secret: string,
): DocumentRenderer | undefined {
  return rendering.shownAs || remaining.joins ? undefined : sameVisibility(rendering, remaining, secret)
}

/** For visibility that is the same for every document. */
function sameVisibility(rendering: Rendering, remaining: Remaining, secret: string): DocumentRenderer {
  const { schema, visibility, projection } = rendering
  const naming = { entity: schema.entity, showsId: visibility.showsId, secret }
  const versionOf = (document: StoredDocument): string => documentVersion(document, naming)
  if (projection.length === 0) return { show: () => '{}', versionOf }
  const renderer = once(() =>
    rendererFor(rendering, remaining, { visibility, projection: () => projection, secret }),
  )
  const project: Page['show'] = (document, joinedSets) =>
    renderer()(parsed(document), { document, joinedSets, versionOf })
  const fromText = textRendererFor(rendering, remaining)
  if (!fromText) return { show: project, versionOf }
  const isKnown = isKnownTo(schema)
  const show: Page['show'] = (document, joinedSets) =>
    (isKnown(document) ? fromText(document) : undefined) ?? project(document, joinedSets)
  return { show, versionOf }
}

/** Renders a document from its stored text, without parsing it. Undefined where the text does not suffice. */
type TextRenderer = (document: StoredDocument) => JsonText | undefined

function textRendererFor(
  { schema, visibility }: Rendering,
  { isWhole, joins, projection }: Remaining,
): TextRenderer | undefined {
  const cut = isWhole ? cutterOf(schema)(visibility) : undefined
  if (joins) {
    const splice = isWhole && (cut || !visibility.hidesSome) ? compileSplice(joins) : undefined
    return splice && ((document) => splice(cut ? cut(document.text) : document.text, document))
  }
  if (cut) return ({ text }) => cut(text)
  return projection ? undefined : ({ text }) => text
}

/** For visibility that depends on the document: each stored document is inspected first. */
function visibilityPerDocument(
  rendering: Rendering & Required<Pick<Rendering, 'shownAs'>>,
  remaining: Remaining,
  secret: string,
): DocumentRenderer {
  const { projection } = rendering
  const rendererOf = memoized((visibility: Visibility) =>
    rendererFor(rendering, remaining, {
      visibility,
      projection: () => [...projection, ...visibility.exclusions],
      secret,
    }),
  )
  let last:
    | { readonly document: StoredDocument; readonly value: JsonObject; readonly visibility: Visibility }
    | undefined
  const inspect = (document: StoredDocument) => {
    if (last?.document === document) return last
    const value = parsed(document)
    last = { document, value, visibility: rendering.shownAs(value) }
    return last
  }
  const versionOf = (document: StoredDocument): string =>
    documentVersion(document, {
      entity: rendering.schema.entity,
      showsId: inspect(document).visibility.showsId,
      secret,
    })
  const show: Page['show'] = (document, joinedSets) => {
    if (projection.length === 0) return '{}'
    const { value, visibility } = inspect(document)
    return rendererOf(visibility)(value, { document, joinedSets, versionOf })
  }
  return { show, versionOf }
}

/** The cost of parsing stands for all later passes over the values until they are printed. */
function parsed({ text }: StoredDocument): JsonObject {
  spendParsing(text.length)
  return parseTrusted(text) as JsonObject
}

const STEPS_PER_DOCUMENT = 20
const CHARACTERS_COPIED_PER_STEP = 64

type Renderer = (value: JsonObject, of: RenderContext) => JsonText

interface RenderContext {
  readonly document: StoredDocument
  readonly joinedSets: readonly JoinedSet[] | undefined
  readonly versionOf: (document: StoredDocument) => string
}

interface Showing {
  readonly visibility: Visibility
  /** Made only when it is needed: it has an item for each hidden field. */
  readonly projection: () => Rendering['projection']
  readonly secret: string
}

/**
 * Hidden fields are removed before anything else is evaluated. The projection excludes them as well, as a
 * second safeguard.
 */
function rendererFor(
  { schema, joined }: Rendering,
  { isWhole, joins }: Remaining,
  { visibility, projection, secret }: Showing,
): Renderer {
  const strip = (joins ? stripForJoins : stripOf)(schema)(visibility)
  const isKnown = isKnownTo(schema)
  const project = once(() => compileProjection(projection(), joined?.root ?? schema.root))
  const embed = joins && compileEmbed(joins, secret)
  return (value, { document, joinedSets, versionOf }) => {
    const visible = strip(value)
    if (!embed && isWhole && isKnown(document)) return JSON.stringify(visible)
    if (embed) {
      const { isHidden } = visibility
      embed(visible, { joinedSets: joinedSets ?? joinedSetsOf(joins, document.joined), isHidden })
    }
    return JSON.stringify(project()(visible, versionOf(document)))
  }
}

/** Cuts hidden top-level members out of the text; undefined if nothing is hidden, or if a nested field is. */
const cutterOf = memoized((schema: Schema) =>
  memoized(({ isHidden }: Visibility) => {
    const names = hiddenMembers(schema.root.fields, isHidden)
    return names && names.length > 0 ? memberCutter(names) : undefined
  }),
)

/** Whether the schema defines all fields of a document: another process may have stored it with a newer version. */
function isKnownTo({ collection }: Schema): (document: StoredDocument) => boolean {
  const { paths: known = Infinity } = collection
  return (document) => (document.paths ?? 0) <= known
}

/**
 * Whether JSON escapes nothing in a version of the document. The `_id` is tested, because the engine would have to copy a
 * text that was just put together.
 */
function isPlain(id: string): boolean {
  return /^[\w:.-]*$/.test(id)
}
