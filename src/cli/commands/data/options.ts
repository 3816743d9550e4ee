/** Options that the data commands share. */
import { CONNECTION_OPTIONS } from '../../client/connection.ts'
import { FORMAT_OPTIONS } from '../../client/output.ts'

export const VERSION_OPTION = {
  version: { type: 'string', value: 'V', summary: 'version of the entity; the default one when absent' },
} as const

export const FIELDS_OPTION = {
  fields: { type: 'string', value: 'A,B.C', summary: 'fields to print, in this order' },
} as const

export const READ_OPTIONS = {
  ...FIELDS_OPTION,
  sort: {
    type: 'string',
    value: 'KEYS',
    summary: 'fields to sort by; - before one means descending: -salary,name',
  },
  limit: { type: 'string', value: 'N', summary: 'print at most N documents' },
  offset: { type: 'string', value: 'N', summary: 'leave out the first N documents' },
  'as-of': {
    type: 'string',
    value: 'DATE',
    summary: 'the documents as they were then; a date such as 2024-01-02T03:04:05Z, or a documentVersion',
  },
} as const

export const WRITE_OPTIONS = {
  'idempotency-key': {
    type: 'string',
    value: 'KEY',
    summary: 'header Idempotency-Key: a repeated command with the same key writes once',
  },
} as const

export { CONNECTION_OPTIONS, FORMAT_OPTIONS }

/** For the details of commands that take a filter. */
export const FILTER_DETAILS =
  'FILTER is a text such as \'city = "Bern" and salary > 5000\', or a query in JSON if it begins with a brace. Quote it, so that it is one word of the shell.'
