/** The faults that take seconds; all of them are made by "npm run test:faults". */
import { after, before, describe, test } from 'node:test'
import { faultGroups } from './all-faults.ts'

for (const { name, open, rows } of faultGroups) {
  const quick = rows.filter((row) => row.quick)
  if (quick.length === 0) continue
  describe(`faults: ${name}`, () => {
    let ground: AsyncDisposable
    before(async () => {
      ground = await open()
    })
    after(async () => await ground[Symbol.asyncDispose]())
    for (const { fault, run } of quick)
      test(fault, async (t) => await run(ground, { churnMinutes: 0, say: (text) => t.diagnostic(text) }))
  })
}
