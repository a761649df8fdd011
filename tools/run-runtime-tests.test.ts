import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { listRuntimeTests, notOnRuntimes, parseRuntimeOptions } from './run-runtime-tests.ts'

function cellsOf(...args: readonly string[]): readonly string[] {
  return parseRuntimeOptions(args).cells.map(({ release, oci }) => `${release.name} ${oci}`)
}

describe('parseRuntimeOptions()', () => {
  test('takes every pair, or those that are named', () => {
    assert.equal(cellsOf().length, 6)
    assert.deepEqual(cellsOf('--runtime', 'containerd-2'), ['containerd-2 runc', 'containerd-2 crun'])
    assert.deepEqual(cellsOf('--oci', 'crun', '--runtime', 'containerd-1.7', '--runtime', 'containerd-2'), [
      'containerd-1.7 crun',
      'containerd-2 crun',
    ])
    assert.deepEqual(parseRuntimeOptions(['--only', 'a,b', '--only', 'c']).only, ['a', 'b', 'c'])
  })

  test('says what is wrong', () => {
    assert.throws(
      () => cellsOf('--runtime', 'docker'),
      /^Error: Cannot use --runtime "docker": expected containerd-1\.6, /,
    )
    assert.throws(() => cellsOf('--oci', 'runsc'), /^Error: Cannot use --oci "runsc": expected runc, crun\nUsage/)
    assert.throws(() => cellsOf('--fast'), /^Error: Cannot read the arguments: .*--fast/)
  })
})

describe('listRuntimeTests()', () => {
  test('has the contract, the features and the end-to-end tests, and a reason for what is left out', () => {
    assert.deepEqual(
      listRuntimeTests([]).map(({ name }) => name),
      ['contract', 'features', 'e2e'],
    )
    const files = listRuntimeTests([]).flatMap(({ globs }) => globs)
    assert.ok(files.includes('test/e2e/kubelet/static-pod.test.ts'))
    for (const file of Object.keys(notOnRuntimes)) {
      assert.ok(existsSync(file), file)
      assert.ok(!files.includes(file), file)
    }
  })

  test('runs only what is named', () => {
    const groups = listRuntimeTests(['test/e2e/kubelet/volume*.test.ts', 'test/contract/containerd.test.ts'])
    assert.deepEqual(
      groups.map(({ name }) => name),
      ['contract', 'e2e'],
    )
    assert.ok(groups[1]?.globs.every((file) => file.includes('/volume')))
    assert.throws(() => listRuntimeTests(['test/none.ts']), /^Error: Cannot run test\/none\.ts: no such test file/)
  })
})
