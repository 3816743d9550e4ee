/**
 * Where chance comes from in the tests. `npm test` always draws the same, so that it fails only for a reason that the
 * change at hand has; `SMALT_SEED=N npm test` draws something else, and `npm run agreement` something new each time.
 */
export const SEED = Number(process.env['SMALT_SEED'] ?? 20_261_115)
