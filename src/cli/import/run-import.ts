/** `smalt import lightblue`: checks the source, writes the metadata, loads the documents, and reports. */
import { maskLocation } from '../../base/location.ts'
import { type EntityMetadata, entitiesFrom } from '../../lightblue/metadata/entities.ts'
import { type StoredSequence, sequenceCollections, sequenceFrom } from '../../lightblue/sequences.ts'
import { SourceError, type SourceReason } from '../../lightblue/source-error.ts'
import type { SourceCollection } from '../../lightblue/source.ts'
import type { Loader } from '../../service/load/load.ts'
import type { Config } from '../config/config.ts'
import type { Environment } from '../config/settings.ts'
import { EXIT, Exit } from '../exit.ts'
import { openExit } from '../run/open-exit.ts'
import { type Progress, createProgress } from '../run/progress.ts'
import { usageError } from '../usage-error.ts'
import { type EntityFinder, entityFinder, refuseAmbiguity } from './find-entity.ts'
import { type ImportFlags, type ImportOptions, importOptions } from './import-options.ts'
import { openTarget } from './import-target.ts'
import { type Loaded, loadBatch } from './load-batches.ts'
import { differences, putMetadata } from './metadata-notes.ts'
import { type OpenedSource, openSource, readMetadata } from './open-source.ts'
import { type RejectsFile, openRejectsFile } from './rejects-file.ts'
import { type ImportReport, reportText } from './report.ts'

type ImportConfig = Pick<Config, 'datasources' | 'limits'>

export async function runImport(
  words: readonly string[],
  flags: ImportFlags,
  { config, environment }: { readonly config: ImportConfig; readonly environment: Environment },
): Promise<void> {
  if (words.length !== 1 || words[0] !== 'lightblue') {
    throw usageError('import takes lightblue', { word: words[0] ?? '', known: ['lightblue'] })
  }
  const options = importOptions(flags, environment)
  const progress = createProgress(process.stderr)
  const { location } = config.datasources[0]!
  try {
    const report = await importFrom(options, config, (each) => progress.show(each))
    progress.end()
    process.stdout.write(options.isJson ? `${JSON.stringify(report)}\n` : reportText(report))
    if (report.rejects !== null) process.exitCode = EXIT.warnings
  } catch (error) {
    progress.end()
    throw error instanceof SourceError
      ? new Exit(EXITS[error.reason], error.message)
      : openExit(error, location)
  }
}

const EXITS: Readonly<Record<SourceReason, number>> = {
  broken: EXIT.failed,
  invalid: EXIT.failed,
  failed: EXIT.failed,
  unreachable: EXIT.unreachable,
  denied: EXIT.denied,
}

type Show = (progress: Progress) => void

/** Nothing is written before the metadata and the whole dump have been read once. */
async function importFrom(
  options: ImportOptions,
  { datasources, limits }: ImportConfig,
  show: Show,
): Promise<ImportReport> {
  const began = performance.now()
  const { isDryRun, dropsUnknown } = options
  const documents = await readMetadata(options)
  await using loader = await openTarget({ datasources, limits, isDryRun, dropsUnknown })
  const { entities, notes } = entitiesFrom(documents ?? loader.metadata(), loader)
  const source = await openSource(options, {
    entities: entities.map(readableVersions),
    maxDepth: limits.nesting,
  })
  const finder = entityFinder(entities, source?.isByEntity ?? false)
  const collections = (await source?.source.check((each) => show(inMegabytes(each)))) ?? []
  refuseAmbiguity(collections, finder)
  const written = documents ? [...notes, ...(await putMetadata(entities, loader))] : []
  const loading = { source, finder, collections, entities, loader }
  const { loaded, sequences, hasRejects } = await loadAll(loading, options, show)
  return {
    isDryRun,
    to: maskLocation(datasources[0]!.location),
    entities: entityReports(entities, loader, loaded),
    sequences,
    skipped: skippedAmong(collections, finder, sequenceNames(entities)),
    notes: [...written, ...differences({ entities, loader, collections, finder, source })],
    rejects: hasRejects ? options.rejects : null,
    seconds: Math.round(performance.now() - began) / 1000,
  }
}

/** Lightblue answers no requests for disabled versions. */
function readableVersions({ entity, versions }: EntityMetadata) {
  const enabled = versions.filter(({ status }) => status !== 'disabled')
  return { entity, versions: enabled.map(({ version }) => version) }
}

const MEGABYTE = 1_000_000

function inMegabytes({ done, total }: { readonly done: number; readonly total: number }): Progress {
  return {
    phase: 'checking',
    done: Math.round(done / MEGABYTE),
    total: Math.round(total / MEGABYTE),
    unit: 'MB',
  }
}

interface Loading {
  readonly source: OpenedSource | undefined
  readonly finder: EntityFinder
  readonly collections: readonly SourceCollection[]
  readonly entities: readonly EntityMetadata[]
  readonly loader: Loader
}

interface AllLoaded {
  readonly loaded: Loaded
  readonly sequences: number
  readonly hasRejects: boolean
}

async function loadAll(loading: Loading, options: ImportOptions, show: Show): Promise<AllLoaded> {
  const { source, loader } = loading
  const loaded: Loaded = new Map()
  if (!source) return { loaded, sequences: 0, hasRejects: false }
  using rejects = openRejectsFile(options.rejects, source.resume?.isResumed ?? false)
  const sequences = await loadBatches({ ...loading, source }, { loaded, rejects, show })
  const raised = await loader.raiseSequences(sequences)
  source.resume?.remove()
  return { loaded, sequences: raised, hasRejects: rejects.hasAny() }
}

/** Returns the sequences of the source. */
async function loadBatches(
  { source, finder, collections, entities, loader }: Loading & { readonly source: OpenedSource },
  { loaded, rejects, show }: { readonly loaded: Loaded; readonly rejects: RejectsFile; readonly show: Show },
): Promise<readonly StoredSequence[]> {
  const sequences: StoredSequence[] = []
  const isSequences = (name: string): boolean => !finder.isKnown(name) && sequenceNames(entities).has(name)
  const total = collections
    .filter(({ name }) => finder.isKnown(name) || isSequences(name))
    .reduce((sum, { documents }) => sum + documents, 0)
  let done = 0
  const interruption = interruptedBySignals()
  show({ phase: 'loading', done, total })
  for await (const batch of source.source.batches((name) => finder.isKnown(name) || isSequences(name))) {
    if (finder.isKnown(batch.name)) await loadBatch(batch, loaded, { loader, finder, rejects })
    else sequences.push(...sequencesIn(batch.documents))
    if (batch.onStored) {
      // A resumed import does not see these documents again.
      await loader.raiseSequences([])
      batch.onStored()
    }
    show({ phase: 'loading', done: (done += batch.documents.length), total })
    interruption.throwIfAborted()
  }
  return sequences
}

function sequencesIn(documents: Parameters<typeof loadBatch>[0]['documents']): readonly StoredSequence[] {
  return documents.flatMap((each) => (each.kind === 'read' ? (sequenceFrom(each.document) ?? []) : []))
}

function sequenceNames(entities: readonly EntityMetadata[]): ReadonlySet<string> {
  return new Set(
    entities.flatMap(({ versions }) =>
      versions.flatMap(({ schema }) => sequenceCollections(schema['fields'])),
    ),
  )
}

/** The first signal ends the import after the current batch; the second ends it at once. */
function interruptedBySignals(): AbortSignal {
  const controller = new AbortController()
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted)
    controller.abort(new Exit(EXIT.interrupted, 'interrupted; the same command loads the rest'))
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  return controller.signal
}

function entityReports(
  entities: readonly EntityMetadata[],
  loader: Loader,
  loaded: Loaded,
): ImportReport['entities'] {
  const stored = new Map(loader.entities().map((each) => [each.entity, each]))
  return entities.flatMap(({ entity }) => {
    const { versions = [], indexes = 0, hooks = [] } = stored.get(entity) ?? {}
    const { documents = NONE, dropped = new Map<string, number>() } = loaded.get(entity) ?? {}
    return [{ entity, versions, indexes, hooks, documents, dropped: Object.fromEntries(dropped) }]
  })
}

const NONE = { inserted: 0, updated: 0, unchanged: 0, rejected: 0 }

function skippedAmong(
  collections: readonly SourceCollection[],
  { isKnown }: EntityFinder,
  sequences: ReadonlySet<string>,
): ImportReport['skipped'] {
  return collections
    .filter(({ name }) => !isKnown(name) && !sequences.has(name))
    .map(({ name, documents }) => ({ collection: name, documents }))
}
