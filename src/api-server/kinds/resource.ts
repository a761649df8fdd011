import type { NameRule, Violation } from '../../model/schema/validation/problem-list.ts'
import type { ApiObject } from '../store/api-object.ts'
import type { ServiceRange } from './rules/services/service-range.ts'
import type { Schema } from '../custom-resources/schema.ts'
import type { ObjectReader } from './object-reader.ts'
import type { TableColumns } from './table-columns.ts'
import type { Int64 } from '../../model/generated/core-v1.ts'

/** The user who makes a request; authenticated before it gets here. */
export interface RequestUser {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** What the rules of a resource may use besides the object. */
export interface RequestContext {
  /** The time as the API writes it, in whole seconds. */
  readonly now: string
  /** The node that pods without one are bound to at once; undefined where a scheduler does that. */
  readonly nodeName: string | undefined
  readonly user: RequestUser
  readonly objects: ObjectReader
  readonly serviceRanges: readonly ServiceRange[]
  /** The end of a name that the server makes up. */
  readonly nameSuffix: () => string
}

/** What is special about a kind; what is absent is as for any object. All of it is synchronous and changes nothing. */
export interface ResourceRules<T extends ApiObject = ApiObject> {
  /** Fills what is absent, as the API server would; for every object that comes in. */
  readonly fillDefaults?: (object: T) => T
  /** What the server decides about a new object. */
  readonly prepareCreate?: (object: T, context: RequestContext) => T
  /** What the server decides about a changed one. */
  readonly prepareUpdate?: (object: T, before: T, context: RequestContext) => T
  /** Whether what an object owns stays when its deletion does not say what becomes of it; it goes too when absent. */
  readonly orphansDependents?: boolean
  /** How long a deleted object stays for its graceful end, when a deletion asks for some seconds or none are given; absent: 0. */
  readonly gracePeriodSeconds?: (object: T, asked: Int64 | undefined) => Int64
  /** What the server decides about a changed status. */
  readonly prepareStatus?: (object: T, before: T) => T
  readonly validate?: (object: T) => readonly Violation[]
  /** Advice for the sender of a new or changed object, which stops nothing. */
  readonly warn?: (object: T, before: T | undefined) => readonly string[]
  /** What holds for new objects only. */
  readonly validateCreate?: (object: T) => readonly Violation[]
  readonly validateUpdate?: (object: T, before: T) => readonly Violation[]
  /** Whether validateUpdate alone judges a changed object, by what is different. */
  readonly judgesChanges?: boolean
  /** Whether something beside the node's own parts acts on the objects, so that they are taken although the part for them is switched off. */
  readonly isServedByOthers?: (objects: ObjectReader) => boolean
  readonly validateStatus?: (object: T, before: T) => readonly Violation[]
}

/** The type of an object in a request: its group, version and kind, and the name of its schema. */
export interface ExpectedType<N extends string = string> {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly typeName: N
  /** For a kind that a definition describes: the schema of its objects. */
  readonly schema?: Schema
}

/** A path below an object that is not the object itself. */
export interface SubresourcePath {
  readonly name: string
  /** The type that is sent; the resource's own when absent. */
  readonly kind?: ExpectedType
  readonly verbs: readonly string[]
  /** Whether a kubelet, or what runs in a pod, answers it in place of the API. */
  readonly isPassedOn?: boolean
}

/** A way to change part of an object under a path of its own. */
export interface Subresource<T extends ApiObject = ApiObject> extends SubresourcePath {
  /** For those that are read and written like the object: what of the new object counts. */
  readonly merge?: (object: T, before: T, context: RequestContext) => T
  /** For those that show the object as another kind: to that kind, and a change of that kind as a change of the object. */
  readonly convert?: {
    readonly fromObject: (object: T) => ApiObject
    readonly toObject: (sent: ApiObject, before: T) => ApiObject
  }
  /** For one that scales: where the number of replicas is in the object, as field managers write it; in its spec when absent. */
  readonly replicasPath?: readonly string[]
  readonly validate?: (object: T, before: T) => readonly Violation[]
  /** Judges what is valid by other objects. Throws an ApiError. */
  readonly admit?: (object: T, before: T, context: RequestContext) => void
}

/** Fields to select by, besides the name and namespace. */
export type SelectableFields<T extends ApiObject = ApiObject> = Readonly<
  Record<string, (object: T) => string | undefined>
>

/** One resource of the API, whose objects are stored as a T and sent as an S. */
export interface Resource<T extends ApiObject = ApiObject, S extends ApiObject = ApiObject> extends ExpectedType {
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly isNamespaced: boolean
  readonly verbs: readonly string[]
  /** What a list of them is called; their kind with "List" behind it when absent. */
  readonly listKind?: string
  /** Whether there is a schema: what is only read and never sent needs none. */
  readonly hasSchema: boolean
  /** The name that it is stored under; two groups may share one. */
  readonly storage: string
  /** From and to the form in which it is stored; absent: as it is. */
  readonly convert?: {
    readonly fromStored: (object: T) => ApiObject
    readonly toStored: (object: S) => T
  }
  /** For a kind whose schema is not built in: its structural schema, by which applies merge it, and the API versions that are served. */
  readonly custom?: { readonly schema: Readonly<Record<string, unknown>>; readonly apiVersions: readonly string[] }
  readonly nameRule: NameRule
  /** Whether metadata.generation counts the changes of the spec. */
  readonly hasGeneration: boolean
  /** Whether metadata.generation counts changes of annotations too. */
  readonly countsAnnotations: boolean
  /** Whether metadata.generation counts changes of all fields but the metadata and the status. */
  readonly countsAllFields?: boolean
  /** Whether a PUT creates an object that does not exist. */
  readonly createsOnUpdate: boolean
  /** Whether a PUT without a version overwrites any version. */
  readonly updatesUnconditionally: boolean
  /** Whether a DELETE answers with the object that is gone, as the API server does for some kinds; with a Status otherwise. */
  readonly answersDeleted: boolean
  /** Why none is ever taken: the kind is only known so that clients which list every kind find it. */
  readonly refusal?: string
  /** What every answer about it warns of. */
  readonly deprecation?: string
  readonly subresources: readonly Subresource<T>[]
  readonly selectableFields: SelectableFields<T>
  readonly columns: TableColumns<T>
  readonly rules: ResourceRules<T>
}
