'use strict';

const { compose } = require('./js/compose.js');
const { loadNative } = require('./js/native.js');

module.exports = compose(() => loadNative(__dirname));
