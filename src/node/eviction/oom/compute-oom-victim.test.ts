import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../../../test/builders/create-observed-pod.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import { computeOomVictim } from './compute-oom-victim.ts'

describe('computeOomVictim()', () => {
  const pods = [
    createObservedPod({ uid: parsePodUid('11-22'), containers: [createInstance({ id: 'aaaa', name: 'main' })] }),
    createObservedPod({ uid: parsePodUid('33-44'), containers: [createInstance({ id: 'bbbb', name: 'side' })] }),
  ]
  const rows: readonly [string, string | undefined][] = [
    ['/kubepods/burstable/pod33-44/bbbb', '33-44 side'],
    ['/kubepods.slice/kubepods-pod11_22.slice/cri-containerd-aaaa.scope', '11-22 main'],
    ['/kubepods/besteffort/pod11-22/cccc', '11-22 undefined'],
    ['/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod33_44.slice/x.scope', '33-44 undefined'],
    ['/kubepods/pod11-223/dddd', undefined],
    ['/system.slice/ssh.service', undefined],
    ['/', undefined],
  ]
  for (const [cgroup, expected] of rows)
    test(cgroup, () => {
      const victim = computeOomVictim(cgroup, pods)
      assert.equal(victim && `${victim.uid} ${victim.container?.name}`, expected)
    })
})
