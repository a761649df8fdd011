import type { Quantity } from '../../model/resources/quantity.ts'
import type { ObservedSignal } from './observed-signal.ts'

/** An amount, or a share of the whole from 0 to 1. */
export type ThresholdValue =
  | { readonly kind: 'amount'; readonly quantity: Quantity }
  | { readonly kind: 'share'; readonly share: number }

/** When the node is short of something. */
export interface Threshold {
  readonly signal: ObservedSignal
  /** Less than this is too little. */
  readonly value: ThresholdValue
  /** Once the signal was below the value, it has to rise above it by this much. */
  readonly minReclaim: ThresholdValue | undefined
  /** How long the signal may stay below the value before pods are evicted; 0: at once. */
  readonly graceMs: number
}
