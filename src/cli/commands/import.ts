/** `smalt import`. */
import { suggestion } from '../../base/suggest.ts'
import { defineCommand } from '../command.ts'
import { dashed } from '../option.ts'
import { FILE_IMPORT_OPTIONS } from '../transfer/import-flags.ts'
import { usageError } from '../usage-error.ts'

export const importCommand = defineCommand({
  name: 'import',
  summary: 'import files of documents, or a whole Lightblue; rejected documents exit with 7',
  details:
    'Files are sent to a running service, in batches. A column of CSV is the path of a field, such as address.city; a ' +
    'column whose name ends in :json contains JSON. An import that --resume continues after more than 24 ' +
    'hours (limits.idempotencyTimeMs of the service) may store twice the one batch whose acknowledgement was lost; with ' +
    '--upsert, documents with an identity are stored once. From Lightblue: the whole dump is checked before anything is written. The same command can be repeated, also after it was killed: ' +
    'documents are found by _id, and those that are the same are not written again. The store is that of the ' +
    'configuration (--store; ./data by default); an SQLite store must not be in use. Credentials for Lightblue ' +
    'are user and password in its URL, or the variable LIGHTBLUE_AUTHORIZATION, the value of that header.',
  actions: [
    { words: 'FILE...', summary: 'import CSV, NDJSON or JSON files; - is standard input' },
    { words: 'lightblue', summary: 'import from Lightblue, its files, or dumps of its database' },
  ],
  options: {
    metadata: {
      type: 'string',
      value: 'DIR|URL',
      summary:
        'lightblue: metadata: a directory of JSON files, or the metadata routes of a running Lightblue',
    },
    data: {
      type: 'string',
      value: 'PATH|URL',
      summary:
        'lightblue: documents: a directory or archive of mongodump, files of mongoexport, or the data routes of a running Lightblue',
    },
    database: { type: 'string', value: 'NAME', summary: 'lightblue: only this database of the dump' },
    'drop-unknown': {
      type: 'boolean',
      summary: 'lightblue: leave out members that no version defines, instead of rejecting their documents',
    },
    cert: { type: 'string', value: 'FILE', summary: 'lightblue, with a URL: client certificate (PEM)' },
    key: { type: 'string', value: 'FILE', summary: 'lightblue, with a URL: its key (PEM)' },
    ca: { type: 'string', value: 'FILE', summary: 'lightblue, with a URL: authorities to trust (PEM)' },
    'dry-run': {
      type: 'boolean',
      summary: 'lightblue: do everything in a temporary store, which is removed at the end',
    },
    ...FILE_IMPORT_OPTIONS,
  },
  configuration: 'used',
  examples: [
    {
      command: 'smalt import employees.csv --entity employee',
      summary: 'import the rows of a CSV file',
    },
    {
      command: 'smalt import employees.csv --entity employee --infer',
      summary: 'print an entity that fits the file; --yes creates and fills it',
    },
    {
      command: 'smalt import big.ndjson --entity employee --on-error skip --resume big.position',
      summary: 'leave out documents that fail; after an interruption, the same command goes on',
    },
    {
      command: 'smalt import lightblue --metadata ./metadata --data ./dump --dry-run',
      summary: 'see what an import of a dump would do',
    },
    {
      command: 'smalt import lightblue --metadata ./metadata --data ./dump',
      summary: 'import it into ./data',
    },
  ],
  async run({ words, flags, environment, readConfig }) {
    const [word = ''] = words
    const isLightblue = word === LIGHTBLUE
    if (!isLightblue && suggestion(word, [LIGHTBLUE]) !== undefined)
      throw usageError('import takes files, or lightblue', { word, known: [LIGHTBLUE] })
    refuseForeign(flags, isLightblue)
    if (isLightblue) {
      const { runImport } = await import('../import/run-import.ts')
      await runImport(words, flags, { config: readConfig(), environment })
    } else {
      const { runImportFiles } = await import('../transfer/import-files.ts')
      await runImportFiles(words, flags, environment)
    }
  },
})

const LIGHTBLUE = 'lightblue'
const OF_BOTH = ['rejects', 'resume', 'json']

/** Each of the two kinds of import refuses the options of the other one. */
function refuseForeign(flags: object, isLightblue: boolean): void {
  const isOfFiles = (name: string): boolean => Object.hasOwn(FILE_IMPORT_OPTIONS, name)
  const stray = Object.keys(flags).find((name) => !OF_BOTH.includes(name) && isOfFiles(name) === isLightblue)
  if (stray !== undefined)
    throw usageError(`import ${isLightblue ? 'lightblue' : 'of files'} takes no ${dashed(stray)}`)
}
