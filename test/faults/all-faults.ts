import { StandaloneNode } from '../e2e/support/standalone-node.ts'
import { faultGroup } from './fault-row.ts'
import type { FaultGroup } from './fault-row.ts'
import { ProxiedNode } from './proxied-node.ts'
import { churnRows, ChurnedNode } from './rows/churn.ts'
import { csiRows } from './rows/csi.ts'
import { diskRows, SmallNode } from './rows/disk.ts'
import { FramedNode, http2Rows } from './rows/http2.ts'
import { processRows } from './rows/processes.ts'
import { runtimeCalls } from './rows/runtime-calls.ts'
import { runtimeLists } from './rows/runtime-lists.ts'

/** Every fault that this suite makes itself, in the order in which they are made. */
export const faultGroups: readonly FaultGroup[] = [
  faultGroup({ name: 'runtime', open: () => ProxiedNode.start(), rows: [...runtimeLists, ...runtimeCalls] }),
  faultGroup({ name: 'HTTP/2 to the API', open: () => FramedNode.start(), rows: http2Rows }),
  faultGroup({ name: 'disk and processes', open: () => SmallNode.start(), rows: [...diskRows, ...processRows] }),
  faultGroup({ name: 'CSI drivers', open: () => StandaloneNode.start(), rows: csiRows }),
  faultGroup({ name: 'churn', open: () => ChurnedNode.start(), rows: churnRows }),
]
