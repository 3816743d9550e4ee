/** The report at the end of an import: what was loaded, what differs, and what to do about it. */
import type { Note } from '../../lightblue/metadata/note.ts'

export interface ImportReport {
  readonly isDryRun: boolean
  readonly to: string
  readonly entities: readonly EntityReport[]
  readonly sequences: number
  /** Collections of the source that belong to no entity. */
  readonly skipped: readonly { readonly collection: string; readonly documents: number }[]
  readonly notes: readonly Note[]
  /** The file of rejected documents; null if there are none. */
  readonly rejects: string | null
  readonly seconds: number
}

export interface EntityReport {
  readonly entity: string
  readonly versions: readonly string[]
  readonly indexes: number
  readonly hooks: readonly string[]
  readonly documents: DocumentCounts
  /** Members that no version defines and that were left out, with the number of documents that had them. */
  readonly dropped: Readonly<Record<string, number>>
}

export interface DocumentCounts {
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  readonly rejected: number
}

export function totalOf(report: ImportReport, kind: keyof DocumentCounts): number {
  return report.entities.reduce((sum, { documents }) => sum + documents[kind], 0)
}

export function reportText(report: ImportReport): string {
  return [...report.entities.map(entityLine), ...noteLines(report), summary(report), ''].join('\n')
}

function entityLine({ entity, versions, indexes, hooks, documents }: EntityReport): string {
  const { inserted, updated, unchanged, rejected } = documents
  const counts = [
    counted(inserted, 'new document', 'new documents'),
    ...(updated > 0 ? [`${number(updated)} changed`] : []),
    ...(unchanged > 0 ? [`${number(unchanged)} unchanged`] : []),
    ...(rejected > 0 ? [`${number(rejected)} rejected`] : []),
    counted(indexes, 'index', 'indexes'),
    ...(hooks.length > 0 ? [counted(hooks.length, 'hook', 'hooks')] : []),
  ]
  return `  ${entity} ${versions.join(', ')}: ${counts.join(', ')}`
}

function noteLines({ notes, skipped, entities }: ImportReport): readonly string[] {
  const rewritten = notes.filter(({ kind }) => kind === 'rewritten')
  const differing = notes.filter(({ kind }) => kind === 'differs')
  const warnings = notes.filter(({ kind }) => kind === 'warning')
  const dropped = entities.flatMap(({ entity, dropped: paths }) =>
    Object.entries(paths).map(
      ([path, count]) => `  ${entity}: left out "${path}", which no version defines, ${number(count)} times`,
    ),
  )
  return [
    ...titled(
      'Rewritten:',
      rewritten.map(({ entity, what }) => `  ${entity}: ${what}`),
    ),
    ...titled('Different from Lightblue:', [...differing.map(advised), ...dropped]),
    ...titled('Warnings:', warnings.map(advised)),
    ...titled(
      'Collections without an entity, not imported:',
      skipped.map(
        ({ collection, documents }) => `  ${collection}: ${counted(documents, 'document', 'documents')}`,
      ),
    ),
  ]
}

function advised({ entity, what, advice }: Note): string {
  return advice === undefined ? `  ${entity}: ${what}` : `  ${entity}: ${what}; ${advice}`
}

function titled(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines]
}

function summary(report: ImportReport): string {
  const { isDryRun, to, entities, sequences, rejects, seconds } = report
  const versions = entities.reduce((sum, each) => sum + each.versions.length, 0)
  const stored = totalOf(report, 'inserted') + totalOf(report, 'updated') + totalOf(report, 'unchanged')
  const what = [
    counted(entities.length, 'entity', 'entities'),
    counted(versions, 'version', 'versions'),
    counted(stored, 'document', 'documents'),
    counted(sequences, 'sequence', 'sequences'),
  ].join(', ')
  const end = rejects === null ? '' : `; ${rejectsText(totalOf(report, 'rejected'), rejects)}`
  return `${isDryRun ? 'would import' : 'imported'} ${what} into ${to} in ${seconds} s${end}`
}

function rejectsText(rejected: number, path: string): string {
  if (rejected === 0) return `the documents rejected earlier are in ${path}`
  return `${counted(rejected, 'document', 'documents')} rejected, see ${path}`
}

function counted(count: number, one: string, many: string): string {
  return `${number(count)} ${count === 1 ? one : many}`
}

function number(count: number): string {
  return count.toLocaleString('en')
}
