/** `smalt aggregate`. */
import { defineCommand } from '../../command.ts'
import {
  CONNECTION_OPTIONS,
  FILTER_DETAILS,
  FORMAT_OPTIONS,
  READ_OPTIONS,
  VERSION_OPTION,
} from './options.ts'

export const aggregate = defineCommand({
  name: 'aggregate',
  summary: 'count, sum and average documents by group',
  details: `${FILTER_DETAILS} Without --by there is one group; without --value the groups alone are printed.`,
  actions: [{ words: 'ENTITY [FILTER]', summary: 'aggregate the documents that match' }],
  options: {
    by: {
      type: 'string',
      multiple: true,
      value: 'FIELD[:PERIOD]',
      summary: 'group by this field; date:month groups dates by month; may be repeated',
    },
    value: {
      type: 'string',
      multiple: true,
      value: 'NAME=FUNCTION',
      summary: 'value of each group: count, or sum, avg, min, max, distinct with a field; may be repeated',
    },
    having: { type: 'string', value: 'QUERY', summary: 'query in JSON that groups must match' },
    sort: READ_OPTIONS.sort,
    limit: READ_OPTIONS.limit,
    offset: READ_OPTIONS.offset,
    ...VERSION_OPTION,
    ...FORMAT_OPTIONS,
    ...CONNECTION_OPTIONS,
  },
  configuration: 'refused',
  examples: [
    {
      command: 'smalt aggregate order --by date:month --value orders=count --value total=sum:amount',
      summary: 'number of orders and turnover by month',
    },
  ],
  async run(invocation) {
    const { runAggregate } = await import('../../run/data.ts')
    await runAggregate(invocation)
  },
})
