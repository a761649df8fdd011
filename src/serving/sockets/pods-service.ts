import type { TokenBucket } from '../../base/async/token-bucket.ts'
import { isPodUid } from '../../model/pod/pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import { encodeProtobuf } from '../../model/schema/protobuf/encode-protobuf.ts'
import { podTypes } from '../../model/schema/object-type.ts'
import { PodsDefinition } from './generated/pods-v1alpha1.ts'
import type { PodChanges } from './pod-changes.ts'
import { PodWatch } from './pod-watch.ts'
import type { PodWithStatus } from './pod-watch.ts'
import type { GrpcService } from '../../protocols/grpc/to-grpc-service.ts'
import { CallRefusal, toGrpcService } from '../../protocols/grpc/to-grpc-service.ts'

export interface PodsServiceDeps {
  /** The desired pods. */
  readonly pods: () => readonly PodWithStatus[]
  readonly find: (uid: PodUid) => PodWithStatus | undefined
  readonly changes: PodChanges
}

// Each costs memory for every pod of the node; the agents of a node are few.
const MOST_WATCHERS = 100

/** The API that shows agents of this node which pods it has, and their status. */
export function createPodsService(deps: PodsServiceDeps, limit: Pick<TokenBucket, 'take'>): GrpcService {
  const { pods, find, changes } = deps
  return toGrpcService(
    PodsDefinition,
    {
      listPods: () => ({ pods: pods().toSorted(byUid).map(encodePod) }),
      getPod({ podUID }) {
        const found = isPodUid(podUID) ? find(podUID) : undefined
        if (found === undefined) throw new CallRefusal('NotFound', `pod with UID ${podUID} not found`)
        return { pod: encodePod(found) }
      },
      watchPods(stream) {
        if (changes.watchers >= MOST_WATCHERS)
          throw new CallRefusal('ResourceExhausted', `expected at most ${MOST_WATCHERS} watchers`)
        const uids = pods()
          .toSorted(byUid)
          .map(({ pod }) => pod.metadata.uid)
        const watch = new PodWatch({ find, encode, write: (event) => stream.write(event) })
        const end = changes.listen((uid) => watch.changed(uid))
        watch.begin(uids)
        stream.onDrain(() => watch.resume())
        stream.onEnd(end)
      },
    },
    limit,
  )
}

function byUid({ pod: a }: PodWithStatus, { pod: b }: PodWithStatus): number {
  return a.metadata.uid < b.metadata.uid ? -1 : 1
}

function encodePod({ pod, status }: PodWithStatus): Uint8Array {
  return encode({ ...pod, status })
}

function encode(pod: object): Uint8Array {
  return encodeProtobuf(pod, 'Pod', podTypes)
}
