/** `smalt update`. */
import { defineCommand } from '../../command.ts'
import {
  CONNECTION_OPTIONS,
  FIELDS_OPTION,
  FILTER_DETAILS,
  FORMAT_OPTIONS,
  VERSION_OPTION,
  WRITE_OPTIONS,
} from './options.ts'

export const update = defineCommand({
  name: 'update',
  summary: 'change the documents that match, and print their _id',
  details: `${FILTER_DETAILS} UPDATE is JSON: $set, $unset, $add, $append, $insert, $foreach.`,
  actions: [{ words: 'ENTITY FILTER UPDATE', summary: 'change the documents that match' }],
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
      command: 'smalt update employee \'city = "Bern"\' \'{"$add":{"salary":100}}\'',
      summary: 'raise the salary of everybody in Bern',
    },
  ],
  async run(invocation) {
    const { runUpdate } = await import('../../run/data.ts')
    await runUpdate(invocation)
  },
})
