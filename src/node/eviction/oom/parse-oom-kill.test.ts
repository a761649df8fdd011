import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseOomKill } from './parse-oom-kill.ts'
import type { OomKill } from './parse-oom-kill.ts'

const HEAD = '6,4711,123456789,-;'
const GROUP = '/kubepods/burstable/pod0c1f/3f2a'
const FREE = 'nodemask=(null),cpuset=3f2a,mems_allowed=0'

describe('parseOomKill()', () => {
  const rows: readonly [string, string, OomKill | undefined][] = [
    [
      'a cgroup at its limit',
      `${HEAD}oom-kill:constraint=CONSTRAINT_MEMCG,${FREE},oom_memcg=/kubepods/burstable/pod0c1f,task_memcg=${GROUP},task=stress,pid=99,uid=0\n`,
      { process: 'stress', pid: 99, cgroup: GROUP, isSystem: false },
    ],
    [
      'the machine out of memory',
      `${HEAD}oom-kill:constraint=CONSTRAINT_NONE,${FREE},global_oom,task_memcg=${GROUP},task=stress,pid=99,uid=1000\n SUBSYSTEM=x\n`,
      { process: 'stress', pid: 99, cgroup: GROUP, isSystem: true },
    ],
    [
      'a process whose name looks like fields',
      `${HEAD}oom-kill:constraint=CONSTRAINT_MEMCG,${FREE},oom_memcg=/a,task_memcg=/a/b,task=x,pid=1,uid=0,pid=7,uid=0\n`,
      { process: 'x,pid=1,uid=0', pid: 7, cgroup: '/a/b', isSystem: false },
    ],
    [
      'a line that a program wrote',
      `12,1,1,-;oom-kill:constraint=CONSTRAINT_NONE,global_oom,task_memcg=/,task=x,pid=1,uid=0\n`,
      undefined,
    ],
    ['a line that only speaks of it', `${HEAD}stress invoked oom-killer: gfp_mask=0xcc0\n`, undefined],
    ['something cut off', `${HEAD}oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/\n`, undefined],
    ['nothing', '', undefined],
  ]
  for (const [name, record, expected] of rows) test(name, () => assert.deepEqual(parseOomKill(record), expected))
})
