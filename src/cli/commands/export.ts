/** `smalt export`. */
import { CONNECTION_OPTIONS } from '../client/connection.ts'
import { defineCommand } from '../command.ts'

export const exportCommand = defineCommand({
  name: 'export',
  summary: 'write the documents of an entity into a file; smalt import reads it',
  details:
    'Documents are streamed in the order of _id. NDJSON has every digit and every member; CSV has a column for each ' +
    'simple field, and arrays as JSON. With --as-of, all documents are those of one moment.',
  options: {
    entity: { type: 'string', value: 'E', summary: 'entity to export' },
    version: { type: 'string', value: 'V', summary: 'version of the entity; the default one when absent' },
    filter: { type: 'string', value: 'FILTER', summary: 'only documents that match, as in smalt find' },
    fields: { type: 'string', value: 'A,B.C', summary: 'only these fields' },
    sort: { type: 'string', value: 'KEYS', summary: 'another order: -salary,name' },
    format: { type: 'string', value: 'F', summary: 'ndjson (default), csv or json' },
    'as-of': { type: 'string', value: 'DATE', summary: 'the documents as they were then; needs history' },
    output: { type: 'string', value: 'FILE', summary: 'file to create; standard output when absent' },
    continue: { type: 'boolean', summary: 'go on with a file that an interrupted export left' },
    json: { type: 'boolean', summary: 'with --output: print a report as JSON' },
    ...CONNECTION_OPTIONS,
  },
  configuration: 'refused',
  examples: [
    { command: 'smalt export --entity employee > employees.ndjson', summary: 'export all employees' },
    {
      command: 'smalt export --entity employee --format csv --output employees.csv',
      summary: 'the same as CSV',
    },
    {
      command: 'smalt export --entity employee --output employees.ndjson --continue',
      summary: 'go on after an interruption',
    },
  ],
  async run({ flags, environment }) {
    const { runExport } = await import('../transfer/export.ts')
    await runExport(flags, environment)
  },
})
