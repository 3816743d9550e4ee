/** `smalt delete`. */
import { defineCommand } from '../../command.ts'
import { CONNECTION_OPTIONS, FILTER_DETAILS, VERSION_OPTION, WRITE_OPTIONS } from './options.ts'

export const deleteCommand = defineCommand({
  name: 'delete',
  summary: 'delete the documents that match',
  details: `${FILTER_DETAILS} The filter is required; true, or {"$and":[]}, means all documents.`,
  actions: [{ words: 'ENTITY FILTER', summary: 'delete the documents that match' }],
  options: { ...VERSION_OPTION, ...WRITE_OPTIONS, ...CONNECTION_OPTIONS },
  configuration: 'refused',
  examples: [
    { command: 'smalt delete employee \'_id = "17"\'', summary: 'delete the employee 17' },
    { command: "smalt delete session 'expires < now()'", summary: 'delete what has expired' },
  ],
  async run(invocation) {
    const { runDelete } = await import('../../run/data.ts')
    await runDelete(invocation)
  },
})
