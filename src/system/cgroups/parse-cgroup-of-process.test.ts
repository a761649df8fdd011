import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseCgroupOfProcess } from './parse-cgroup-of-process.ts'

describe('parseCgroupOfProcess()', () => {
  for (const [what, text, expected] of [
    ['the tree of v2', '0::/kubepods.slice/a:b.scope\n', '/kubepods.slice/a:b.scope'],
    ['that of memory on v1', '5:cpu,cpuacct:/x\n4:memory:/pods/a\n0::/\n', '/pods/a'],
    ['none of a process that is gone', undefined, undefined],
    ['none of something else', 'what?\n', undefined],
  ] as const)
    test(`finds ${what}`, () => assert.equal(parseCgroupOfProcess(text), expected))
})
