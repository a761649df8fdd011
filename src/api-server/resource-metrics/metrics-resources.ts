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

const columns: TableColumns<MetricsObject> = {
  columns: columnsOf('Name', 'CPU', 'Memory', 'Window'),
  cells: ({ metadata, usage, containers = [], window }) => {
    const all = usage === undefined ? containers.map((each) => each.usage) : [usage]
    const sum = (name: keyof Amounts) => all.reduce((total, amounts) => total + Number.parseInt(amounts[name]), 0)
    return [metadata.name ?? '', `${sum('cpu')}n`, `${sum('memory')}Ki`, window]
  },
}

/** What both resources have in common. */
export const metricsDefinition = {
  version: METRICS_VERSION,
  singular: '',
  verbs: ['get', 'list'],
  hasSchema: false,
  columns,
}
