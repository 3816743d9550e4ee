/** A test that passes. */
import { test } from 'node:test'

test('all is in order', () => undefined)
