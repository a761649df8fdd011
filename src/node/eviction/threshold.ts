import type { Quantity } from '../../model/resources/quantity.ts'
import type { Signal } from './signal.ts'

/** An amount, or a share of the whole from 0 to 1. */
export type ThresholdValue =
  | { readonly kind: 'amount'; readonly quantity: Quantity }
  | { readonly kind: 'share'; readonly share: number }

/** When the node is short of something. */
export interface Threshold {
  readonly signal: Signal
  /** Less than this is too little. */
  readonly value: ThresholdValue
  /** Once it was too little, so much more has to be there. */
  readonly minReclaim: ThresholdValue | undefined
  /** For so long pods may still help themselves; 0: they go at once. */
  readonly graceMs: number
}
