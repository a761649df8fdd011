import type { ApiObject } from '../store/api-object.ts'
import { columnsOf } from '../kinds/table-columns.ts'
import type { TableColumns } from '../kinds/table-columns.ts'

export const METRICS_GROUP = 'metrics.k8s.io'
const METRICS_VERSION = 'v1beta1'

interface Amounts {
  readonly cpu: string
  readonly memory: string
}

/** What is measured of a node or of the containers of a pod. */
export interface MetricsObject extends ApiObject {
  readonly timestamp: string
  readonly window: string
  readonly usage?: Amounts
  readonly containers?: readonly { readonly name: string; readonly usage: Amounts }[]
}

const columns: TableColumns = {
  columns: columnsOf('Name', 'CPU', 'Memory', 'Window'),
  cells: (object) => {
    const { metadata, usage, containers = [], window } = object as MetricsObject
    const all = usage === undefined ? containers.map((each) => each.usage) : [usage]
    const sum = (name: keyof Amounts) => all.reduce((total, amounts) => total + Number.parseInt(amounts[name]), 0)
    return [metadata.name ?? '', `${sum('cpu')}n`, `${sum('memory')}Ki`, window]
  },
}

/** Resources that are measured and not stored; who asks reads what the kubelets say at the moment. */
export const metricsDefinitions = [
  { plural: 'nodes', kind: 'NodeMetrics', singular: '', isNamespaced: false },
  { plural: 'pods', kind: 'PodMetrics', singular: '', isNamespaced: true },
].map((definition) => ({
  ...definition,
  group: METRICS_GROUP,
  version: METRICS_VERSION,
  verbs: ['get', 'list'],
  hasSchema: false,
  columns,
}))
