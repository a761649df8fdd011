import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseMountTable } from '../../system/mounts/mount-table.ts'
import { findOwnMounts } from './own-mounts.ts'
import { computeNodeLayout } from './node-layout.ts'

const layout = computeNodeLayout('/state')
const root = '1 0 8:1 / / rw shared:1 - ext4 /dev/a rw'
const disk = '2 1 8:2 / /state rw - ext4 /dev/b rw'

describe('findOwnMounts()', () => {
  const rows: readonly { name: string; lines: readonly string[]; own: readonly string[] }[] = [
    { name: 'the state folder as a disk of its own', lines: [root, disk], own: [] },
    {
      name: "the user's mounts below it",
      lines: [
        root,
        '3 1 8:3 / /state/extra rw - ext4 /dev/c rw',
        '4 1 8:4 / /state/containerd rw - ext4 /dev/d rw',
        '5 4 8:5 / /state/containerd/root rw - ext4 /dev/e rw',
        '6 4 8:6 / /state/containerd/state rw - ext4 /dev/f rw',
        '7 1 8:7 / /state/kubelet rw - ext4 /dev/g rw',
        '8 7 8:8 / /state/kubelet/pods rw - ext4 /dev/h rw',
        '9 1 8:9 / /state-2/kubelet/pods/a rw - ext4 /dev/i rw',
      ],
      own: [],
    },
    {
      name: 'what runtime and agent mounted, without what lies in it',
      lines: [
        root,
        disk,
        '3 2 0:3 / /state/containerd/state/task/rootfs rw - overlay overlay rw',
        '4 2 0:4 net:[1] /state/containerd/state/netns/cni-1 rw - nsfs nsfs rw',
        '5 2 8:2 /kubelet /state/kubelet rw shared:2 - ext4 /dev/b rw',
        '6 5 0:5 / /state/kubelet/pods/u/volumes/v rw shared:3 - tmpfs tmpfs rw',
        '7 6 0:6 / /state/kubelet/pods/u/volumes/v/in rw shared:4 - tmpfs tmpfs rw',
      ],
      own: [
        '/state/containerd/state/netns/cni-1',
        '/state/containerd/state/task/rootfs',
        '/state/kubelet/pods/u/volumes/v',
        '/state/kubelet',
      ],
    },
    {
      name: "the agent's folder mounted on itself, on the root file system",
      lines: [root, '2 1 8:1 /state/kubelet /state/kubelet rw shared:1 - ext4 /dev/a rw'],
      own: ['/state/kubelet'],
    },
    {
      name: "the agent's folder mounted on itself where it is a disk",
      lines: [
        root,
        '2 1 8:2 / /state/kubelet rw - ext4 /dev/b rw',
        '3 2 8:2 / /state/kubelet rw shared:2 - ext4 /dev/b rw',
      ],
      own: ['/state/kubelet'],
    },
    {
      name: "the agent's folder with a mount of the user's in it",
      lines: [
        root,
        '2 1 8:1 /state/kubelet /state/kubelet rw shared:1 - ext4 /dev/a rw',
        '3 2 8:3 / /state/kubelet/extra rw shared:2 - ext4 /dev/c rw',
      ],
      own: [],
    },
  ]
  for (const { name, lines, own } of rows) {
    test(name, () => assert.deepEqual(findOwnMounts(parseMountTable(lines.join('\n')), layout), own))
  }
})
