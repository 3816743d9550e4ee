/** `smalt insert`. */
import { defineCommand } from '../../command.ts'
import {
  CONNECTION_OPTIONS,
  FIELDS_OPTION,
  FORMAT_OPTIONS,
  VERSION_OPTION,
  WRITE_OPTIONS,
} from './options.ts'

export const insert = defineCommand({
  name: 'insert',
  summary: 'insert documents, and print their _id',
  details:
    'DOCUMENTS is a JSON object, or an array of them. Without it, or with -, they are read from standard input, where ' +
    'each line may also be one document. smalt import reads files of any size.',
  actions: [{ words: 'ENTITY [DOCUMENTS]', summary: 'insert the documents' }],
  options: {
    ...VERSION_OPTION,
    ...FIELDS_OPTION,
    ...WRITE_OPTIONS,
    ...FORMAT_OPTIONS,
    ...CONNECTION_OPTIONS,
  },
  configuration: 'refused',
  examples: [
    {
      command: 'smalt insert employee \'{"name":"Ann","city":"Bern"}\'',
      summary: 'insert one document and print its _id',
    },
    { command: 'smalt insert employee < employees.ndjson', summary: 'insert one document for each line' },
  ],
  async run(invocation) {
    const { runInsert } = await import('../../run/data.ts')
    await runInsert(invocation)
  },
})
