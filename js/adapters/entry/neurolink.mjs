import envelope from '../neurolink.js';

export const { attach } = envelope;
