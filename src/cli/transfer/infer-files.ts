/** `smalt import --infer`: proposes metadata for the files, and creates the entity when the user agrees. */
import type { Client } from '../client/client.ts'
import type { CsvOptions } from '../../records/csv.ts'
import { inferMetadata } from '../../records/infer/infer.ts'
import { UnusableNames } from '../../records/infer/refuse-names.ts'
import { RecordsError } from '../../records/record.ts'
import { EXIT, Exit } from '../exit.ts'
import type { FileImportFlags } from './import-flags.ts'
import { type SourceFile, recordsOf, refuseReadOnce } from './source-files.ts'

interface Inferring {
  readonly entity: string
  readonly flags: FileImportFlags
  readonly csv: CsvOptions
}

/** Returns whether the import shall go on. */
export async function inferAndCreate(
  client: Client,
  files: readonly SourceFile[],
  { entity, flags, csv }: Inferring,
): Promise<boolean> {
  refuseReadOnce(files, '--infer')
  const version = flags.version ?? '1.0.0'
  const { metadata, notes } = await inferMetadata(allRecords(files, csv), {
    entity,
    version,
    roles: flags.role ?? [],
  }).catch((error: unknown) => {
    throw error instanceof UnusableNames ? new Exit(EXIT.failed, error.message) : error
  })
  process.stdout.write(`${JSON.stringify(metadata, undefined, 2)}\n`)
  for (const note of notes) process.stderr.write(`smalt: ${note}\n`)
  if (flags.yes !== true) {
    process.stderr.write('smalt: nothing was written; --yes creates this entity and imports the files\n')
    return false
  }
  const path = `/metadata/${encodeURIComponent(entity)}/${encodeURIComponent(version)}?strict=true`
  await client.ask('PUT', path, { body: metadata })
  return true
}

async function* allRecords(files: readonly SourceFile[], csv: CsvOptions) {
  for (const file of files) {
    try {
      for await (const record of recordsOf(file, csv)) {
        yield { record, isText: file.format === 'csv' }
      }
    } catch (error) {
      throw error instanceof RecordsError ? new Exit(EXIT.failed, `${file.path}, ${error.message}`) : error
    }
  }
}
