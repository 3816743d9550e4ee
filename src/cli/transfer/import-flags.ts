/** The options of `smalt import FILE…`. */
import { CONNECTION_OPTIONS } from '../client/connection.ts'
import type { OptionValues } from '../option.ts'

export const FILE_IMPORT_OPTIONS = {
  entity: { type: 'string', value: 'E', summary: 'files: entity of the documents' },
  version: {
    type: 'string',
    value: 'V',
    summary: 'files: version of the entity; the default one when absent',
  },
  format: {
    type: 'string',
    value: 'F',
    summary: 'files: csv, ndjson or json; by the name of the file when absent',
  },
  delimiter: {
    type: 'string',
    value: 'C',
    summary: "files: between cells of CSV, ',' ';' '|' or tab; detected when absent",
  },
  upsert: { type: 'boolean', summary: 'files: replace documents that exist, by their identity' },
  batch: { type: 'string', value: 'N', summary: 'files: documents in one request (1000)' },
  'on-error': {
    type: 'string',
    value: 'stop|skip',
    summary: 'files: what to do about documents that fail (stop); skip writes them into the file of rejects',
  },
  rejects: {
    type: 'string',
    value: 'FILE',
    summary:
      'file for rejected documents, one per line (ENTITY-rejects.ndjson, or lightblue-rejects.ndjson); imports of files add to it',
  },
  resume: {
    type: 'string',
    value: 'FILE',
    summary: 'remember the position in this file, and go on from there when the command is repeated',
  },
  infer: {
    type: 'boolean',
    summary: 'files: print metadata that fit the files, and write nothing without --yes',
  },
  yes: { type: 'boolean', summary: 'files: create the inferred entity and import the files' },
  json: { type: 'boolean', summary: 'print the report as JSON' },
  ...CONNECTION_OPTIONS,
} as const

export type FileImportFlags = OptionValues<typeof FILE_IMPORT_OPTIONS>
