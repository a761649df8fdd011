import { setTimeout as sleep } from 'node:timers/promises'
import { ListContainersResponse, ListPodSandboxResponse } from '../../../src/protocols/cri/generated/runtime-v1.ts'
import type { Invariant, MadeFault } from '../fault-row.ts'
import type { ProxiedNode } from '../proxied-node.ts'
import type { RuntimeProxy } from '../runtime-proxy.ts'

const ALL: readonly Invariant[] = ['once', 'kept', 'steady', 'lives', 'status', 'handles']
const MORE_THAN_FITS = 17 * 1024 ** 2
// An agent that believes every list would have acted by then.
const LONG_ENOUGH_MS = 3000

/** Keeps the first so many entries of both lists. */
function shorten(proxy: RuntimeProxy, kept: number): void {
  proxy.break('ListPodSandbox', {
    kind: 'alter',
    alter: (bytes) => {
      const { items } = ListPodSandboxResponse.decode(bytes)
      return ListPodSandboxResponse.encode({ items: items.slice(0, kept) }).finish()
    },
  })
  proxy.break('ListContainers', {
    kind: 'alter',
    alter: (bytes) => {
      const { containers } = ListContainersResponse.decode(bytes)
      return ListContainersResponse.encode({ containers: containers.slice(0, kept) }).finish()
    },
  })
}

/** Breaks, lists everything a few times, heals, and checks that nothing came of it. */
async function throughRelists(ground: ProxiedNode, breakLists: (proxy: RuntimeProxy) => void): Promise<void> {
  const { proxy, steady } = ground
  breakLists(proxy)
  try {
    await ground.relist()
    await sleep(LONG_ENOUGH_MS)
    await steady.verify()
  } finally {
    proxy.heal()
  }
  await ground.relist(1)
  await steady.verify()
}

export const runtimeLists: readonly MadeFault<ProxiedNode>[] = [
  {
    name: 'empty-lists',
    fault: 'the runtime lists nothing, although containers run',
    injection: 'a proxy empties every list of sandboxes and containers',
    invariants: ALL,
    quick: true,
    run: async (ground) => await throughRelists(ground, (proxy) => shorten(proxy, 0)),
  },
  {
    name: 'short-lists',
    fault: 'the runtime leaves out a part of what it has',
    injection: 'a proxy keeps the first entry of every list of sandboxes and containers',
    invariants: ALL,
    quick: true,
    run: async (ground) => await throughRelists(ground, (proxy) => shorten(proxy, 1)),
  },
  {
    name: 'empty-lists-at-start',
    fault: 'the runtime lists nothing when the agent starts',
    injection:
      'a proxy empties all lists while the agent is killed and started; it starts with nothing to compare them with',
    invariants: ['once', 'kept', 'steady', 'status'],
    quick: false,
    async run({ node, proxy, steady }) {
      shorten(proxy, 0)
      try {
        await node.agent.kill('SIGKILL')
        await node.startAgent()
        await node.agent.healthy()
        await sleep(LONG_ENOUGH_MS)
      } finally {
        proxy.heal()
      }
      await steady.verify({ isNewAgent: true })
      await steady.begin()
    },
  },
  {
    name: 'cut-messages',
    fault: 'answers of the runtime end in the middle of a message',
    injection: 'a proxy passes on half of the bytes of each list, and then its end',
    invariants: ALL,
    quick: true,
    run: async (ground) =>
      await throughRelists(ground, (proxy) => {
        for (const method of ['ListPodSandbox', 'ListContainers']) proxy.break(method, { kind: 'cut' })
      }),
  },
  {
    name: 'huge-messages',
    fault: 'an answer of the runtime is larger than the 16 MB that gRPC takes',
    injection: 'a proxy gives the first container of each list an annotation of 17 MB',
    invariants: ALL,
    quick: true,
    run: async (ground) =>
      await throughRelists(ground, (proxy) => {
        const filler = 'x'.repeat(MORE_THAN_FITS)
        proxy.break('ListContainers', {
          kind: 'alter',
          alter: (bytes) => {
            const [first, ...others] = ListContainersResponse.decode(bytes).containers
            if (first === undefined) return bytes
            const padded = { ...first, annotations: { ...first.annotations, filler } }
            return ListContainersResponse.encode({ containers: [padded, ...others] }).finish()
          },
        })
      }),
  },
  {
    name: 'lists-always-too-large',
    fault: 'the lists of everything are always larger than the 16 MB that gRPC takes',
    injection:
      'a proxy gives the first container of each list with several pods an annotation of 17 MB, before the agent starts and until it has started a pod and ended it',
    invariants: ['once', 'kept', 'steady', 'status'],
    quick: false,
    async run(ground) {
      const { node, proxy, steady } = ground
      proxy.break('ListContainers', { kind: 'alter', alter: padWhereMany })
      try {
        await node.agent.kill('SIGKILL')
        await node.startAgent()
        await node.logged('the lists of the runtime are too large to be sent, pods are asked for one by one')
        await ground.liveOn('late')
        await steady.verify({ isNewAgent: true })
      } finally {
        proxy.heal()
      }
      await steady.begin()
    },
  },
]

/** Makes a list too large that has containers of more than one pod. */
function padWhereMany(bytes: Uint8Array): Uint8Array {
  const [first, ...others] = ListContainersResponse.decode(bytes).containers
  if (first === undefined || others.every(({ podSandboxId }) => podSandboxId === first.podSandboxId)) return bytes
  const padded = { ...first, annotations: { ...first.annotations, filler: 'x'.repeat(MORE_THAN_FITS) } }
  return ListContainersResponse.encode({ containers: [padded, ...others] }).finish()
}
