/** `smalt get`. */
import { defineCommand } from '../../command.ts'
import { CONNECTION_OPTIONS, FIELDS_OPTION, FORMAT_OPTIONS, READ_OPTIONS, VERSION_OPTION } from './options.ts'

export const get = defineCommand({
  name: 'get',
  summary: 'print one document by its _id',
  actions: [{ words: 'ENTITY ID', summary: 'print the document, as JSON unless --format says otherwise' }],
  options: {
    ...VERSION_OPTION,
    ...FIELDS_OPTION,
    'as-of': READ_OPTIONS['as-of'],
    ...FORMAT_OPTIONS,
    ...CONNECTION_OPTIONS,
  },
  configuration: 'refused',
  examples: [
    { command: 'smalt get employee 17', summary: 'print the employee 17' },
    { command: 'smalt get employee 17 --fields name,city', summary: 'print two of its fields' },
  ],
  async run(invocation) {
    const { runGet } = await import('../../run/data.ts')
    await runGet(invocation)
  },
})
