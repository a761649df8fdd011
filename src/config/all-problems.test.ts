import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadFields, problemsOf } from '../../test/fakes/load-settings.ts'

test('a value of a wrong type does not hide what is wrong elsewhere', async () => {
  const problems = await problemsOf(
    loadFields({ maxPods: 'many', healthzPort: 70_000, imageGCHighThresholdPercent: 101 }),
  )
  const paths = ['healthzPort', 'imageGCHighThresholdPercent', 'maxPods']
  assert.deepEqual([...new Set(problems.map((problem) => problem.split(':')[0] ?? ''))].sort(), paths)
})
