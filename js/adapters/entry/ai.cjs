'use strict';

module.exports = require('../ai.js')(require('ai'));
