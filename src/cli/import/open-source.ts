/** Opens the metadata and the documents of Lightblue, wherever they are. */
import type { JsonObject } from '../../base/json/json.ts'
import { openDump } from '../../lightblue/dump/dump-source.ts'
import { readMetadataFiles } from '../../lightblue/metadata/read-files.ts'
import { createRestClient, maskAddress } from '../../lightblue/rest/rest-client.ts'
import { readRestMetadata } from '../../lightblue/rest/rest-metadata.ts'
import { type RestEntity, openRest } from '../../lightblue/rest/rest-source.ts'
import { type ResumeFile, openResumeFile } from '../../lightblue/rest/resume-file.ts'
import type { DocumentSource } from '../../lightblue/source.ts'
import type { ImportOptions } from './import-options.ts'

export async function readMetadata({
  metadata,
  tls,
  authorization,
}: ImportOptions): Promise<readonly JsonObject[] | undefined> {
  if (!metadata) return undefined
  if (metadata.kind === 'path') return readMetadataFiles(metadata.text)
  return readRestMetadata(createRestClient(metadata.text, { tls, authorization }))
}

export interface OpenedSource {
  readonly source: DocumentSource
  /** Whether its collections are named like entities. */
  readonly isByEntity: boolean
  readonly resume: ResumeFile | undefined
}

/** `entities` are those to read from a running Lightblue. */
export async function openSource(
  { data, database, tls, authorization, resume: resumePath, isDryRun }: ImportOptions,
  { entities, maxDepth }: { readonly entities: readonly RestEntity[]; readonly maxDepth: number },
): Promise<OpenedSource | undefined> {
  if (!data) return undefined
  if (data.kind === 'path') {
    return { source: await openDump(data.text, { database, maxDepth }), isByEntity: false, resume: undefined }
  }
  const client = createRestClient(data.text, { tls, authorization })
  // a dry run stores nothing, so it has nothing to resume
  const resume = openResumeFile(isDryRun ? undefined : resumePath, maskAddress(data.text))
  const readable = entities.filter(({ versions }) => versions.length > 0)
  return { source: openRest({ client, entities: readable, positions: resume }), isByEntity: true, resume }
}
