/** `smalt find`. */
import { defineCommand } from '../../command.ts'
import {
  CONNECTION_OPTIONS,
  FILTER_DETAILS,
  FORMAT_OPTIONS,
  READ_OPTIONS,
  VERSION_OPTION,
} from './options.ts'

export const find = defineCommand({
  name: 'find',
  summary: 'print documents of a running service',
  details: `${FILTER_DETAILS} Without a filter, all documents are printed.`,
  actions: [{ words: 'ENTITY [FILTER]', summary: 'print the documents that match' }],
  options: { ...VERSION_OPTION, ...READ_OPTIONS, ...FORMAT_OPTIONS, ...CONNECTION_OPTIONS },
  configuration: 'refused',
  examples: [
    {
      command: 'smalt find employee \'city = "Bern"\' --sort -salary',
      summary: 'print the employees in Bern, best paid first',
    },
    {
      command: 'smalt find employee \'{"field":"city","op":"=","rvalue":"Bern"}\' --format csv',
      summary: 'the same query in JSON, printed as CSV',
    },
  ],
  async run(invocation) {
    const { runFind } = await import('../../run/data.ts')
    await runFind(invocation)
  },
})
