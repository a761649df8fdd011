import type { NameRule, Violation } from '../../model/schema/validation/problem-list.ts'
import type { ApiObject } from '../store/api-object.ts'
import type { StoreView } from '../store/transaction.ts'
import type { ServiceRange } from './rules/service-range.ts'
import type { TableColumns } from './table-columns.ts'

/** Who makes a request; found out before it gets here. */
export interface RequestUser {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** What the rules of a resource may look at besides the object. */
export interface RuleContext {
  /** The time as the API writes it, in whole seconds. */
  readonly now: string
  /** The node that pods without one are bound to. */
  readonly nodeName: string
  readonly user: RequestUser
  readonly view: StoreView
  readonly serviceRange: ServiceRange
  /** The end of a name that the server makes up. */
  readonly nameSuffix: () => string
}

/** What is special about a resource; what is absent is as for any object. All of it is synchronous and changes nothing. */
export interface ResourceRules {
  /** Fills what is absent, as the API server would; for every object that comes in. */
  readonly fillDefaults?: (object: ApiObject) => ApiObject
  /** What the server decides about a new object. */
  readonly prepareCreate?: (object: ApiObject, context: RuleContext) => ApiObject
  /** What the server decides about a changed one. */
  readonly prepareUpdate?: (object: ApiObject, before: ApiObject, context: RuleContext) => ApiObject
  readonly validate?: (object: ApiObject) => readonly Violation[]
  readonly validateUpdate?: (object: ApiObject, before: ApiObject) => readonly Violation[]
  readonly validateStatus?: (object: ApiObject, before: ApiObject) => readonly Violation[]
}

/** A way to change part of an object under a path of its own. */
export interface Subresource {
  readonly name: string
  /** The kind that is sent; the resource's own when absent. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string; readonly typeName: string }
  readonly verbs: readonly string[]
  /** Whether others than the API answer it: a kubelet, or what runs in a pod. */
  readonly isPassedOn?: boolean
  /** For those that are read and written like the object: what of the new object counts. */
  readonly merge?: (object: ApiObject, before: ApiObject, context: RuleContext) => ApiObject
  readonly validate?: (object: ApiObject, before: ApiObject) => readonly Violation[]
}

/** One resource of the API. */
export interface Resource {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly isNamespaced: boolean
  readonly verbs: readonly string[]
  /** The name of its schema. */
  readonly typeName: string
  /** Whether there is a schema: what is only read and never sent needs none. */
  readonly hasSchema: boolean
  /** The name that it is stored under; two groups may share one. */
  readonly storage: string
  /** From and to the form in which it is stored; absent: as it is. */
  readonly convert?: {
    readonly fromStored: (object: ApiObject) => ApiObject
    readonly toStored: (object: ApiObject) => ApiObject
  }
  readonly nameRule: NameRule
  /** Whether metadata.generation counts the changes of the spec. */
  readonly hasGeneration: boolean
  /** Whether a PUT makes what is not there. */
  readonly createsOnUpdate: boolean
  /** Whether a PUT without a version overwrites whatever is there. */
  readonly updatesUnconditionally: boolean
  readonly subresources: readonly Subresource[]
  /** Fields to select by, besides the name and namespace. */
  readonly selectableFields: (object: ApiObject) => Readonly<Record<string, string>>
  readonly columns: TableColumns
  readonly rules: ResourceRules
}
